"""A LibTorch with CUDA is found without its own TorchConfig.cmake, which asks for a CUDA toolkit."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_example_of_a_plugin_needs_no_cuda_toolkit(tmp_path: Path) -> None:
    torch = tmp_path / "torch"
    (torch / "lib").mkdir(parents=True)
    (torch / "lib/libtorch_cuda.so").touch()
    config = torch / "share/cmake/Torch"
    config.mkdir(parents=True)
    (config / "TorchConfigVersion.cmake").write_text('set(PACKAGE_VERSION "2.13.0")\n')
    (config / "TorchConfig.cmake").write_text('message(FATAL_ERROR "cannot find the CUDA libraries")\n')
    command = ["cmake", "-S", str(ROOT / "docs/plugin_example"), "-B", str(tmp_path / "build")]
    made = subprocess.run([*command, f"-DCMAKE_PREFIX_PATH={config.parent}"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert f"Found a LibTorch with CUDA: {torch}" in made.stdout
