"""Errors and resolutions of the finders of primary vertices, for `bench/pv_study.py` and its figures."""
import math


def binomial_error(part, whole):
    """Binomial error of part / whole, with one more success and one more failure so that it is never 0."""
    if whole == 0:
        return 0.0
    p = (part + 1) / (whole + 2)
    return math.sqrt(p * (1 - p) / whole)


def fit_resolution(points):
    """A, B, C of width(N) = A / N^B + C by weighted least squares: B is scanned, A and C follow from linear equations.
    points: (N, width, error). C is not negative."""
    best = None
    for step in range(20, 301):
        b = step / 100
        s = [0.0] * 5
        for n, width, error in points:
            u, w = n**-b, 1 / error**2
            for k, value in enumerate((w, w * u, w * u * u, w * width, w * u * width)):
                s[k] += value
        det = s[0] * s[2] - s[1] ** 2
        a, c = (s[0] * s[4] - s[1] * s[3]) / det, (s[2] * s[3] - s[1] * s[4]) / det
        if c < 0:
            a, c = s[4] / s[2], 0.0
        chi2 = sum(((a * n**-b + c - width) / error) ** 2 for n, width, error in points)
        if best is None or chi2 < best[0]:
            best = (chi2, a, b, c)
    return best[1:]


def resolution_points(result, axis):
    rows = [b for b in result["bins"] if b["pairs"] >= 50 and b["mean_weight"] >= 2]
    return [(b["mean_weight"], 1000 * b[f"resolution_{axis}_mm"], 1000 * b[f"resolution_{axis}_mm"] / math.sqrt(b["pairs"]))
            for b in rows]
