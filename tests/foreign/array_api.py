"""Functions of SciPy and scikit-learn on gpulua.xp, beside their results for NumPy's arrays: called by run.sh."""
import os

os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np
import scipy.cluster.vq
import scipy.fft
import scipy.signal
import scipy.special
import scipy.stats
import sklearn
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gpulua
from gpulua import xp

samples = np.random.default_rng(0).standard_normal((200, 6))
targets = samples @ np.arange(6.0)
classes = (targets > 0).astype("int64")
model = make_pipeline(StandardScaler(), PCA(4, svd_solver="full"), Ridge(solver="svd"))

checks = {
    "logsumexp": lambda x, y, c: scipy.special.logsumexp(x, axis=1),
    "erf": lambda x, y, c: scipy.special.erf(x),
    "zscore": lambda x, y, c: scipy.stats.zscore(x),
    "skew": lambda x, y, c: scipy.stats.skew(x, axis=1),
    "ttest_ind": lambda x, y, c: scipy.stats.ttest_ind(x, 2 * x).pvalue,
    "fftconvolve": lambda x, y, c: scipy.signal.fftconvolve(y, y),
    "hilbert": lambda x, y, c: scipy.signal.hilbert(y),
    "dct": lambda x, y, c: scipy.fft.dct(x, axis=0),
    "whiten": lambda x, y, c: scipy.cluster.vq.whiten(x),
    "kmeans": lambda x, y, c: scipy.cluster.vq.kmeans(x, x[:3, :])[0],
    "PCA": lambda x, y, c: abs(PCA(3, svd_solver="covariance_eigh").fit_transform(x)),
    "Ridge": lambda x, y, c: model.fit(x, y).predict(x),
    "LogisticRegression": lambda x, y, c: LogisticRegression().fit(x, c).predict_proba(x),
    "GaussianMixture": lambda x, y, c: GaussianMixture(2, random_state=0, init_params="random").fit(x).predict_proba(x),
}

with sklearn.config_context(array_api_dispatch=True):
    for name, function in checks.items():
        expected = function(samples, targets, classes)
        got = function(*[xp.asarray(a, copy=True) for a in (samples, targets, classes)])
        assert isinstance(got, gpulua.Array), f"{name}: expected an Array, got {type(got)}"
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6, atol=1e-6, err_msg=name)
print(f"{len(checks)} functions of SciPy and scikit-learn")
