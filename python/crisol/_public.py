"""The modules from which users import classes and functions."""

import importlib
import sys
from collections.abc import Iterable
from typing import Any

# Paths of PyTorch's files whose names are in another module here: {module: {folder: files}}.
_FILES = {
    "autograd": {"autograd": "anomaly_mode function grad_mode gradcheck"},
    "amp": {"amp": "autocast_mode grad_scaler", "cuda": "amp"},
    "data": {"utils.data": "_utils _utils.collate dataloader dataset distributed sampler"},
    "distributions": {
        "distributions": "bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet distribution"
        " exp_family exponential fishersnedecor gamma generalized_pareto geometric gumbel half_cauchy half_normal"
        " independent inverse_gamma kl kumaraswamy laplace lkj_cholesky log_normal logistic_normal"
        " lowrank_multivariate_normal mixture_same_family multinomial multivariate_normal negative_binomial normal"
        " one_hot_categorical pareto poisson relaxed_bernoulli relaxed_categorical studentT transformed_distribution"
        " uniform von_mises weibull wishart"
    },
    "func": {"nn.utils": "stateless"},
    "nn": {"nn": "parallel parallel.data_parallel"},
    "nn.modules": {
        "nn.modules": "activation adaptive batchnorm container conv distance dropout flatten fold instancenorm linear"
        " loss module normalization padding pixelshuffle pooling rnn sparse transformer upsampling utils"
    },
    "nn.utils": {"nn.utils": "clip_grad convert_parameters spectral_norm weight_norm"},
    "optim": {
        "optim": "adadelta adagrad adam adamax adamw asgd lbfgs nadam optimizer radam rmsprop rprop sgd sparse_adam"
    },
}


def belongs_to(module: str, values: Iterable[Any]) -> None:
    """Messages, pickles and the reference name `module` as the module of the classes and functions.

    Since Python 3.13 a class knows its first line, and `inspect` looks for it in the file of the named module. That is
    another file, so such a class has no source to show, as before 3.13.
    """
    for value in values:
        value.__module__ = module
        if "__firstlineno__" in vars(value):
            del value.__firstlineno__


def register_files() -> None:
    """Makes the paths of PyTorch's files importable."""
    for ours, folders in _FILES.items():
        module = importlib.import_module(f"crisol.{ours}")
        for folder, files in folders.items():
            for file in files.split():
                parent, _, name = f"crisol.{folder}.{file}".rpartition(".")
                sys.modules[f"{parent}.{name}"] = module
                if not callable(getattr(sys.modules[parent], name, None)):  # A function of the name stays.
                    setattr(sys.modules[parent], name, module)
