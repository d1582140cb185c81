"""Names of torch 2.13 that small_torch lacks, without those of other devices, quantization, and torch's compilers."""

NAMES = {
    "torch, Tensor": """
        absolute acos_ acosh acosh_ addbmm addcdiv addmv addmv_ addr adjoint arccos arccos_ arccosh arccosh_ arcsin
        arcsin_ arcsinh arcsinh_ arctan arctan2 arctan_ arctanh arctanh_ argwhere as_strided as_strided_
        as_strided_scatter asin_ asinh asinh_ atan_ atanh_ bitwise_and bitwise_left_shift bitwise_not bitwise_or
        bitwise_right_shift bitwise_xor chalf cholesky cholesky_inverse cholesky_solve conj_physical conj_physical_
        copysign cosh_ cummin deg2rad deg2rad_ diagflat diagonal_scatter digamma dist dsplit eig erf_ erfc erfc_
        erfinv exp2_ fix fix_ fliplr flipud float_power fmax fmin fmod frac frac_ frexp gcd gcd_ ger get_device
        greater_equal hardshrink heaviside histc histogram hsplit hypot i0 i0_ igamma igammac index_reduce inner
        is_conj is_inference is_neg is_nonzero is_same_size is_signed isneginf isposinf isreal istft kthvalue lcm
        lcm_ ldexp ldexp_ less_equal lgamma log10_ log2_ logaddexp logaddexp2 logdet logit logit_ lu lu_solve
        masked_scatter matrix_exp moveaxis msort mvlgamma nan_to_num_ nanmean nanmedian nanquantile negative
        negative_ nextafter not_equal pinverse polygamma positive prelu put rad2deg rad2deg_ renorm resize_as_
        resolve_conj resolve_neg rot90 scatter_reduce select_scatter signbit sinc sinc_ sinh_ slice_scatter slogdet
        solve split_with_sizes stft storage swapdims take take_along_dim tan_ tensor_split unique_consecutive vdot
        vsplit xlogy xlogy_
    """,
    "torch": """
        AcceleratorError BFloat16Tensor DoubleStorage Event FloatStorage GradScaler LongStorage ModuleDict
        OutOfMemoryError ParameterDict Stream abs_ accelerator adaptive_avg_pool1d adaptive_max_pool1d
        affine_grid_generator alpha_dropout alpha_dropout_ amp ao atleast_1d atleast_2d atleast_3d autocast
        avg_pool1d bartlett_window batch_norm bilinear binary_cross_entropy_with_logits binomial bit blackman_window
        block_diag broadcast_shapes bucketize can_cast cartesian_prod ceil_ celu celu_ chain_matmul channel_shuffle
        channels_last channels_last_3d clamp_ clamp_max_ clamp_min_ classes clip_ column_stack combinations compile
        compiled_with_cxx11_abi compiler complex32 cond constant_pad_nd contrib conv1d conv2d conv3d conv_tbc
        conv_transpose1d conv_transpose2d conv_transpose3d convolution cos_ cosine_embedding_loss cosine_similarity
        cpu ctc_loss cumulative_trapezoid detach detach_ distributed distributions dropout dropout_ dstack embedding
        embedding_bag empty_permuted empty_quantized empty_strided exp_ expm1_ export feature_alpha_dropout
        feature_alpha_dropout_ feature_dropout feature_dropout_ fft fill fill_ floor_ fork frobenius_norm
        from_dlpack from_file frombuffer functional futures fx get_default_device get_deterministic_debug_mode
        get_device_module get_float32_matmul_precision get_num_interop_threads gradient grid_sampler grid_sampler_2d
        grid_sampler_3d group_norm hamming_window hann_window hinge_embedding_loss histogramdd hub index_put_
        instance_norm is_anomaly_check_nan_enabled is_anomaly_enabled is_deterministic_algorithms_warn_only_enabled
        is_inference_mode_enabled is_storage is_warn_always_enabled isin jagged kaiser_window kl_div layer_norm
        layout library log1p_ log_ lu_unpack margin_ranking_loss masked matrix_rank max_pool1d
        max_pool1d_with_indices max_pool2d max_pool3d memory_format meshgrid monitor mps multiprocessing neg_ nested
        newaxis nuclear_norm numa onnx ops overrides package pairwise_distance pca_lowrank pixel_shuffle
        pixel_unshuffle poisson poisson_nll_loss polar profiler range reciprocal_ relu_ return_types rms_norm round_
        row_stack rrelu rrelu_ rsqrt_ scalar_tensor searchsorted segment_reduce selu selu_ set_anomaly_enabled
        set_default_device set_float32_matmul_precision set_flush_denormal set_warn_always sigmoid_ signal sin_
        special sqrt_ square_ std_mean svd_lowrank tanh_ testing threshold threshold_ to_dlpack torch_version
        trapezoid trapz triplet_margin_loss trunc_ types unravel_index vander var_mean view_as_complex view_as_real
        wait while_loop windows zero_
    """,
    "Tensor": """
        absolute_ addbmm_ addcdiv_ addr_ apply_ arctan2_ as_subclass atan2_ baddbmm_ bfloat16 bitwise_and_
        bitwise_left_shift_ bitwise_not_ bitwise_or_ bitwise_right_shift_ bitwise_xor_ byte cauchy_ char coalesce
        const_data_ptr copysign_ cumprod_ dense_dim digamma_ dim_order divide divide_ element_size eq_ erfinv_
        float_power_ floor_divide_ fmod_ ge_ geometric_ grad_dtype greater greater_ greater_equal_ gt_ heaviside_
        hypot_ igamma_ igammac_ index index_reduce_ indices is_coalesced is_cpu is_mkldnn is_set_to is_sparse_csr
        itemsize le_ less less_ less_equal_ lgamma_ log_normal_ lt_ map2_ map_ masked_scatter_ module_load multiply
        multiply_ mvlgamma_ name nbytes ndimension ne_ new new_empty_strided nextafter_ not_equal_ output_nr
        pin_memory polygamma_ put_ register_post_accumulate_grad_hook renorm_ reshape_as resize resize_ resize_as
        row_indices scatter_reduce_ set_ sgn_ share_memory_ sparse_dim sparse_mask squeeze_ storage_offset subtract
        subtract_ sum_to_size swapaxes_ swapdims_ t_ to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo
        to_sparse_csc to_sparse_csr transpose_ true_divide true_divide_ type_as unsqueeze_ untyped_storage values
    """,
    "Sequential": """
        insert pop
    """,
    "Module": """
        bfloat16 compile get_buffer get_extra_state get_parameter get_submodule register_backward_hook
        register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook
        register_load_state_dict_pre_hook register_module register_state_dict_post_hook register_state_dict_pre_hook
        set_extra_state set_submodule share_memory to_empty type
    """,
    "torch.nn": """
        AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss AdaptiveMaxPool1d
        AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d BatchNorm2d BatchNorm3d
        Bilinear Buffer CELU CTCLoss ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d
        ConstantPad2d ConstantPad3d Container Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
        CosineEmbeddingLoss CosineSimilarity CrossMapLRN2d DataParallel Dropout1d Dropout2d Dropout3d ELU
        EmbeddingBag FeatureAlphaDropout Fold FractionalMaxPool2d FractionalMaxPool3d GLU GaussianNLLLoss GroupNorm
        Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss HuberLoss InstanceNorm1d InstanceNorm2d
        InstanceNorm3d KLDivLoss LPPool1d LPPool2d LPPool3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d
        LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d
        LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear LinearCrossEntropyLoss
        LinearCrossEntropyOptions LocalResponseNorm LogSigmoid MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d
        MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish ModuleDict MultiLabelMarginLoss MultiLabelSoftMarginLoss
        MultiMarginLoss NLLLoss2d PReLU PairwiseDistance ParameterDict PixelShuffle PixelUnshuffle PoissonNLLLoss
        RMSNorm RReLU ReLU6 ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d
        ReplicationPad3d SELU SmoothL1Loss SoftMarginLoss Softmax2d Softmin Softshrink Softsign SyncBatchNorm
        Tanhshrink Threshold Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
        TripletMarginLoss TripletMarginWithDistanceLoss Unflatten Unfold UninitializedBuffer UninitializedParameter
        Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d backends grad parallel
    """,
    "torch.nn.functional": """
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
        adaptive_max_pool1d_with_indices adaptive_max_pool2d adaptive_max_pool2d_with_indices adaptive_max_pool3d
        adaptive_max_pool3d_with_indices affine_grid alpha_dropout avg_pool1d avg_pool2d avg_pool3d bilinear celu
        celu_ channel_shuffle conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
        cosine_embedding_loss ctc_loss dropout1d dropout2d dropout3d elu_ feature_alpha_dropout fold
        fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
        fractional_max_pool3d_with_indices gaussian_nll_loss glu grad grid_sample group_norm grouped_mm
        gumbel_softmax hardshrink hardsigmoid hardswish hardtanh hardtanh_ hinge_embedding_loss instance_norm
        interpolate kl_div leaky_relu_ linear_cross_entropy local_response_norm lp_pool1d lp_pool2d lp_pool3d
        margin_ranking_loss max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d
        max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d mish multi_head_attention_forward
        multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss pairwise_distance pdist pixel_shuffle
        pixel_unshuffle poisson_nll_loss prelu relu6 relu_ rms_norm rrelu rrelu_ scaled_grouped_mm scaled_mm selu
        selu_ soft_margin_loss softmin softshrink softsign tanhshrink threshold threshold_ triplet_margin_loss
        triplet_margin_with_distance_loss unfold upsample upsample_bilinear upsample_nearest
    """,
    "torch.nn.init": """
        constant dirac dirac_ kaiming_normal kaiming_normal_ kaiming_uniform normal orthogonal sparse sparse_
        trunc_normal_ uniform xavier_normal xavier_uniform
    """,
    "torch.nn.utils": """
        clip_grad clip_grad_norm clip_grads_with_norm_ convert_parameters fusion init memory_format parametrizations
        parametrize prune remove_spectral_norm remove_weight_norm skip_init spectral_norm stateless weight_norm
    """,
    "torch.nn.utils.rnn": """

    """,
    "torch.optim": """
        ASGD Adadelta Adafactor Adamax LBFGS Muon NAdam RAdam Rprop SparseAdam adadelta adagrad adam adamax adamw
        asgd lbfgs nadam optimizer radam rmsprop rprop sgd sparse_adam swa_utils
    """,
    "torch.optim.lr_scheduler": """
        ChainedScheduler ConstantLR CyclicLR MultiplicativeLR Optimizer PolynomialLR SequentialLR bisect_right inf
        ref
    """,
    "torch.autograd": """
        SavedTensor Variable anomaly_mode forward_ad grad_mode gradgradcheck graph is_multithreading_enabled
        is_view_replay_enabled profiler set_multithreading_enabled variable
    """,
    "torch.autograd.functional": """
        fwAD
    """,
    "torch.func": """
        debug_unwrap functionalize linearize rearrange replace_all_batch_norm_modules_ stack_module_state
    """,
    "torch.linalg": """
        cholesky cholesky_ex cond diagonal eig eigh eigvalsh householder_product inv_ex ldl_factor ldl_factor_ex
        ldl_solve lu lu_factor lu_factor_ex lu_solve matmul matrix_exp multi_dot pinv slogdet solve_ex tensorinv
        tensorsolve vander vecdot
    """,
    "torch.utils": """
        backcompat benchmark bundled_inputs checkpoint cpp_extension debug_log deterministic dlpack file_baton
        flop_counter hipify hooks jit mobile_optimizer model_dump model_zoo module_tracker serialization show_pickle
        swap_tensors tensorboard viz weak
    """,
    "torch.utils.data": """
        ChainDataset DistributedSampler IterDataPipe MapDataPipe StackDataset WeightedRandomSampler
        backward_compatibility dataloader datapipes dataset distributed get_worker_info graph sampler
    """,
    "torch.random": """

    """,
}
