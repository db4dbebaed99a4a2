"""Archives and policies for other libraries: pyribs, QDax, ONNX, PyTorch."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .archive import Archive, Policy

__all__ = ["actor_layers", "export_onnx", "to_qdax", "to_ribs", "to_state_dict", "to_torch"]

#: Normalised observations are clipped to ± this value, and this is added to their variance.
_LIMIT, _FLOOR = 10.0, 1e-8


def to_ribs(archive: Archive) -> Any:
    """A GridArchive or CVTArchive of pyribs with the same elites, in the same cells."""
    from ribs.archives import CVTArchive, GridArchive

    about = archive.about
    fields = {"length": ((), np.float64), "iteration_found": ((), np.int64)}
    common = {"solution_dim": archive.solution.shape[1], "extra_fields": fields}
    if about["dims"] is not None:
        ranges = list(zip(about["lower"], about["upper"]))
        ribs = GridArchive(dims=about["dims"], ranges=ranges, **common)
    else:
        ranges = [tuple(ends) for ends in about["ranges"]]
        ribs = CVTArchive(centroids=about["centroids"], ranges=ranges, **common)
    if len(archive):
        ribs.add(
            archive.solution,
            archive.objective,
            archive.measures,
            length=archive.length,
            iteration_found=archive.iteration_found,
        )
    return ribs


def _centroids(archive: Archive) -> np.ndarray:
    about = archive.about
    if about["centroids"] is not None:
        return about["centroids"]
    axes = [
        low + (np.arange(count) + 0.5) * (high - low) / count
        for count, low, high in zip(about["dims"], about["lower"], about["upper"])
    ]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(about["cells"], -1)


def to_qdax(archive: Archive) -> dict[str, np.ndarray]:
    """`genotypes`, `fitnesses`, `descriptors` and `centroids`, a row a cell; the fitness of an empty cell is −∞."""
    cells, index = archive.about["cells"], archive.index
    arrays = {
        "genotypes": np.zeros((cells, archive.solution.shape[1]), dtype=np.float32),
        "fitnesses": np.full((cells, 1), -np.inf),
        "descriptors": np.zeros((cells, archive.measures.shape[1])),
        "centroids": _centroids(archive),
    }
    arrays["genotypes"][index] = archive.solution
    arrays["fitnesses"][index, 0] = archive.objective
    arrays["descriptors"][index] = archive.measures
    return arrays


def actor_layers(archive: Archive, rows: Any = slice(None)) -> list[tuple[np.ndarray, np.ndarray, str]]:
    """Weights (elites, outputs, inputs), biases (elites, outputs) and activation of each layer of these elites."""
    solutions = archive.solution[rows]
    layers = []
    for (start, end), (first, last), inputs, outputs, activation in archive.about["layers"]:
        weights = solutions[..., start:end].reshape(*solutions.shape[:-1], outputs, inputs)
        layers.append((weights, solutions[..., first:last], activation))
    return layers


def _scale(archive: Archive, rows: Any = slice(None)) -> tuple[np.ndarray, np.ndarray]:
    mean, variance = archive.obs_mean[rows], archive.obs_var[rows]
    return mean.astype(np.float32), (1.0 / np.sqrt(variance + _FLOOR)).astype(np.float32)


def to_state_dict(policy: Policy) -> dict[str, Any]:
    """The actor as the `state_dict` of :func:`to_torch`."""
    import torch

    state = {}
    mean, scale = _scale(policy.archive, policy.row)
    state["mean"], state["scale"] = torch.tensor(mean), torch.tensor(scale)
    for number, (weight, bias, _) in enumerate(actor_layers(policy.archive, policy.row)):
        state[f"layers.{2 * number}.weight"] = torch.tensor(weight)
        state[f"layers.{2 * number}.bias"] = torch.tensor(bias)
    return state


def to_torch(policy: Policy) -> Any:
    """The policy as a module of PyTorch: raw observations in, mean actions within ±1 out."""
    import torch

    sizes = policy.archive.about["sizes"]

    class Actor(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(sizes[0]))
            self.register_buffer("scale", torch.ones(sizes[0]))
            layers = []
            for _, inputs_outputs in enumerate(zip(sizes, sizes[1:])):
                layers += [torch.nn.Linear(*inputs_outputs), torch.nn.Tanh()]
            self.layers = torch.nn.Sequential(*layers[:-1])

        def forward(self, observations):
            normal = ((observations - self.mean) * self.scale).clamp(-_LIMIT, _LIMIT)
            return self.layers(normal).clamp(-1.0, 1.0)

    _tanh_only(policy.archive)
    actor = Actor()
    actor.load_state_dict(to_state_dict(policy))
    return actor.eval()


def _tanh_only(archive: Archive) -> None:
    *hidden, last = [layer[4] for layer in archive.about["layers"]]
    if last != "identity" or any(activation != "tanh" for activation in hidden):
        raise ValueError(f"only actors of tanh layers can be handed over, but these are {[*hidden, last]}")


def export_onnx(what: Archive | Policy, path: str | os.PathLike[str]) -> None:
    """Writes an ONNX model with mean actions within ±1.

    A policy has the input `observation` (batch, entries). A whole archive has the input `cell` as well, the number of
    one cell; a cell without an elite acts as the first elite does, so look up which have one (`Archive.index`).
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    archive = what if isinstance(what, Archive) else what.archive
    _tanh_only(archive)
    if len(archive) == 0:
        raise ValueError(f"{archive.path} holds no elites")
    whole = isinstance(what, Archive)
    rows: Any = slice(None) if whole else what.row
    nodes, constants = [], []

    def constant(name: str, values: np.ndarray) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def of_elite(name: str, values: np.ndarray) -> str:
        """The constant, or the elite's part of it."""
        if not whole:
            return constant(name, values)
        nodes.append(helper.make_node("Gather", [constant(f"all_{name}", values), "row"], [name], axis=0))
        return name

    if whole:
        row_of_cell = np.zeros(archive.about["cells"], dtype=np.int64)
        row_of_cell[archive.index] = np.arange(len(archive))
        nodes.append(helper.make_node("Gather", [constant("row_of_cell", row_of_cell), "cell"], ["row"]))
    mean, scale = _scale(archive, rows)
    nodes.append(helper.make_node("Sub", ["observation", of_elite("mean", mean)], ["centred"]))
    nodes.append(helper.make_node("Mul", ["centred", of_elite("scale", scale)], ["scaled"]))
    limits = [constant("low", np.float32(-_LIMIT)), constant("high", np.float32(_LIMIT))]
    nodes.append(helper.make_node("Clip", ["scaled", *limits], ["x0"]))
    layers = actor_layers(archive, rows)
    for number, (weight, bias, activation) in enumerate(layers):
        # Rows times matrix: the weight is transposed once, here.
        weight = of_elite(f"weight{number}", np.swapaxes(weight, -1, -2))
        nodes.append(helper.make_node("MatMul", [f"x{number}", weight], [f"product{number}"]))
        sum_of = f"sum{number}"
        nodes.append(helper.make_node("Add", [f"product{number}", of_elite(f"bias{number}", bias)], [sum_of]))
        kind = "Tanh" if activation == "tanh" else "Identity"
        nodes.append(helper.make_node(kind, [sum_of], [f"x{number + 1}"]))
    ends = [constant("least", np.float32(-1.0)), constant("most", np.float32(1.0))]
    nodes.append(helper.make_node("Clip", [f"x{len(layers)}", *ends], ["action"]))
    sizes = archive.about["sizes"]
    inputs = [helper.make_tensor_value_info("observation", TensorProto.FLOAT, ["batch", sizes[0]])]
    if whole:
        inputs.append(helper.make_tensor_value_info("cell", TensorProto.INT64, []))
    outputs = [helper.make_tensor_value_info("action", TensorProto.FLOAT, ["batch", sizes[-1]])]
    graph = helper.make_graph(nodes, "magpie", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save_model(model, os.fspath(path))
