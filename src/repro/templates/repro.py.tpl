{{headline:x-py-comment-lines}}
{{made:x-py-comment-lines}}
{{#needs_path}}
from pathlib import Path

{{/needs_path}}
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


{{body:x-statements}}
