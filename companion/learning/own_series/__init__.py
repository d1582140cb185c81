"""Read a reader's own series (`read_csv`), compare forecasts for it (`compare`), write a notebook (`to_notebook`)."""

from companion.learning.own_series.comparison import Comparison, compare
from companion.learning.own_series.notebook import to_notebook
from companion.learning.own_series.series import OwnSeries, read_csv
from companion.learning.own_series.words import FileProblem

__all__ = ["Comparison", "FileProblem", "OwnSeries", "compare", "read_csv", "to_notebook"]
