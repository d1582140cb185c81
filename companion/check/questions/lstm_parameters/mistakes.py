"""Mistakes with layers and directions, and the place in the book that explains each."""

from companion.check.questions.lstm_parameters import CHAPTER

STACK_MISTAKES = {
    "upper_layers_read_input": f"{CHAPTER}#equations",
    "upper_layers_read_c": f"{CHAPTER}#equations",
    "first_layer_weights_everywhere": f"{CHAPTER}#num-layers",
    "layers_share_weights": f"{CHAPTER}#num-layers",
    "first_state_for_all_layers": f"{CHAPTER}#num-layers",
    "upper_layers_start_at_zero": f"{CHAPTER}#num-layers",
    "state_passed_up": f"{CHAPTER}#num-layers",
    "h_n_of_top_layer_only": f"{CHAPTER}#first-look-said",
    "h_n_of_first_layer_only": f"{CHAPTER}#first-look-said",
    "h_n_layers_reversed": f"{CHAPTER}#last-row",
    "h_n_joined_by_cat": f"{CHAPTER}#formula",
    "output_of_first_layer": f"{CHAPTER}#num-layers",
    "outputs_of_all_layers": f"{CHAPTER}#num-layers",
    "layers_detached": f"{CHAPTER}#equations",
    "relu_between_layers": f"{CHAPTER}#equations",
    "tanh_between_layers": f"{CHAPTER}#equations",
    "input_added_between_layers": f"{CHAPTER}#equations",
}
DROPOUT_MISTAKES = {
    "upper_layers_read_input~undropped": "",
    "dropout_ignored": f"{CHAPTER}#dropout",
    "dropout_after_last_layer": f"{CHAPTER}#dropout-said",
    "dropout_in_evaluation": f"{CHAPTER}#dropout",
    "dropout_on_input": f"{CHAPTER}#dropout",
    "dropout_between_steps": f"{CHAPTER}#dropout",
    "dropout_between_steps~output_kept": "",
    "dropout_in_states": f"{CHAPTER}#dropout-said",
    "dropout_not_scaled": f"{CHAPTER}#dropout",
    "dropout_scales_in_evaluation": f"{CHAPTER}#dropout",
    "dropout_keeps_p": f"{CHAPTER}#dropout",
    "dropout_keeps_p~none": "",
    "dropout_mask_inverted": f"{CHAPTER}#dropout",
    "dropout_without_seed": f"{CHAPTER}#dropout",
    "dropout_shared_over_time": f"{CHAPTER}#dropout",
    "dropout_shared_over_batch": f"{CHAPTER}#dropout",
    "dropout_shared_over_units": f"{CHAPTER}#dropout",
}
DIRECTION_MISTAKES = {
    "backward_not_flipped": f"{CHAPTER}#bidirectional",
    "backward_reads_forwards": f"{CHAPTER}#bidirectional",
    "backward_reads_forwards~flipped": "",
    "flipped_over_batch": f"{CHAPTER}#bidirectional",
    "flipped_over_features": f"{CHAPTER}#bidirectional",
    "directions_share_weights": f"{CHAPTER}#bidirectional",
    "reverse_weights_missing": f"{CHAPTER}#bidirectional",
    "backward_starts_from_forward": f"{CHAPTER}#where-h-n-sits",
    "directions_share_state": f"{CHAPTER}#where-h-n-sits",
    "directions_share_state~layer": "",
    "directions_before_layers": f"{CHAPTER}#where-h-n-sits",
    "directions_before_layers~h_n": "",
    "directions_before_layers~h_0": "",
    "h_n_backward_first": f"{CHAPTER}#where-h-n-sits",
    "h_n_backward_first~h": "",
    "backward_h_n_from_output_last": f"{CHAPTER}#last-output-trap",
    "h_n_of_forward_only": f"{CHAPTER}#where-h-n-sits",
    "h_n_directions_joined": f"{CHAPTER}#where-h-n-sits",
    "output_backward_first": f"{CHAPTER}#bidirectional",
    "output_interleaved": f"{CHAPTER}#bidirectional",
    "output_of_forward_only": f"{CHAPTER}#bidirectional",
    "output_of_forward_only~top": "",
    "directions_added": f"{CHAPTER}#bidirectional",
    "directions_added~top": "",
    "directions_averaged": f"{CHAPTER}#bidirectional",
    "directions_kept_apart": f"{CHAPTER}#bidirectional",
    "directions_joined_over_time": f"{CHAPTER}#bidirectional",
    "directions_joined_over_batch": f"{CHAPTER}#bidirectional",
    "upper_layers_read_forward_only": f"{CHAPTER}#bidirectional",
}
PROJECTION_MISTAKES = {
    "projection_after_layer": f"{CHAPTER}#proj-size",
    "projection_after_layer~h_n": "",
    "output_not_projected": f"{CHAPTER}#proj-said",
    "weight_hr_missing": f"{CHAPTER}#proj-said",
    "weight_hr_transposed": f"{CHAPTER}#proj-said",
    "projection_in_rows": f"{CHAPTER}#proj-said",
    "projection_by_view": f"{CHAPTER}#proj-size",
    "projection_of_c": f"{CHAPTER}#proj-size",
    "projection_squashed": f"{CHAPTER}#proj-size",
    "projection_squashed~sigmoid": "",
    "projection_squashed~relu": "",
    "c_n_projected": f"{CHAPTER}#proj-said",
    "default_state_size": f"{CHAPTER}#proj-said",
    # h and c differ in size, so that exchanged zeros are recognised as well
    "state_read_as_c_h~default": "",
}

# The mistakes with lengths that a layer which reads a packed sequence can make.
PACKED_LAYER_MISTAKES = {
    "h_n_after_padding": "sequences#state-after-padding",
    "backward_starts_in_padding": "sequences#state-after-padding",
    "backward_starts_in_padding~said": "",
    "packed_ignores_lengths": "sequences#state-after-padding",
    "packed_ignores_lengths~all_long": "",
    "output_not_packed": "sequences#state-after-padding",
    "states_not_sorted": "sequences#state-after-padding",
    "h_n_left_sorted": "sequences#state-after-padding",
}
BATCH_FIRST_MISTAKES = {
    "batch_first_ignored": f"{CHAPTER}#batch-first",
    "batch_first_the_other_way": f"{CHAPTER}#batch-first",
    "output_not_batch_first": f"{CHAPTER}#batch-first",
    "view_for_batch_first": f"{CHAPTER}#batch-first-same",
    "h_n_batch_first": f"{CHAPTER}#batch-first-trap",
    "h_0_batch_first": f"{CHAPTER}#batch-first-trap",
}

# Mistakes that cannot occur after a mistake in the shapes of the weights: the first product raises an error.
READ_BY_UPPER = {"upper_layers_read_one_direction": f"{CHAPTER}#bidirectional"}
READ_PROJECTED = {
    "projection_not_in_weight_hh": f"{CHAPTER}#proj-said",
    "projection_not_in_upper_layers": f"{CHAPTER}#proj-said",
}
