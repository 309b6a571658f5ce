{{headline:x-py-comment-lines}}
# As a method of PyTorch's tests, where instantiate_device_type_tests gives the device. Run: python test_repro.py
{{#needs_path}}
from pathlib import Path
{{/needs_path}}
import unittest

{{#imports}}
{{value:x-source}}
{{/imports}}
{{#operators}}

torch.ops.load_library(str(Path(__file__).resolve().with_name("{{value:x-source}}")))
{{/operators}}
{{#settings}}

{{#list}}
{{value:x-source}}
{{/list}}
{{/settings}}


class TestRepro(unittest.TestCase):
    def test_{{name:x-source}}(self, device="{{device:x-source}}"):
{{body:x-statements}}


if __name__ == "__main__":
    unittest.main()
