#!/usr/bin/env python3
"""Export what a model sees of τ²-bench's domains, for `unmask --tau2-surface DIR`.

Run it in the Python environment of your τ²-bench checkout:
    python export_tau2_surface.py DIR            (writes DIR/mock.json, DIR/retail.json, ...)
The files hold tool descriptions, policies and prompt templates of τ²-bench; they are its authors'.
"""
import json
import pathlib
import sys

from tau2.agent import llm_agent
from tau2.domains.airline.environment import get_environment as airline
from tau2.domains.mock.environment import get_environment as mock
from tau2.domains.retail.environment import get_environment as retail
from tau2.domains.telecom.environment import get_environment as telecom
from tau2.user import user_simulator

DOMAINS = {
    "mock": mock,
    "retail": retail,
    "airline": airline,
    "telecom": telecom,
    "telecom-workflow": lambda: telecom(policy_type="workflow"),
}


class Kept(dict):
    """For str.format_map: names that are not given stay as they are."""

    def __missing__(self, name):
        return "{" + name + "}"


def tools(toolkit):
    """The schemas of a toolkit's tools, in its order."""
    out = []
    for name, tool in (toolkit.get_tools() if toolkit is not None else {}).items():
        schema = dict(tool.openai_schema)
        schema["tool_type"] = toolkit.tool_type(name).value
        schema["mutates_state"] = toolkit.tool_mutates_state(name)
        out.append(schema)
    return out


def prompts():
    """Templates that still hold {domain_policy}, {ticket}, {guidelines} and {instructions}."""
    solo = llm_agent.AGENT_SOLO_INSTRUCTION.format_map(
        Kept(stop_function_name="done", stop_token="###STOP###"))
    return {
        "agent": llm_agent.SYSTEM_PROMPT.format_map(Kept(agent_instruction=llm_agent.AGENT_INSTRUCTION)),
        "solo": llm_agent.SYSTEM_PROMPT_SOLO.format_map(Kept(agent_instruction=solo)),
        "user": user_simulator.SYSTEM_PROMPT.format_map(
            Kept(global_user_sim_guidelines_with_persona="{guidelines}")),
    }


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in DOMAINS.items():
        environment = make()
        surface = {
            "assistant": tools(environment.tools),
            "user": tools(environment.user_tools),
            "policy": environment.get_policy(),
            "prompts": prompts(),
        }
        path = folder / (name + ".json")
        path.write_text(json.dumps(surface, indent=1) + "\n", encoding="utf-8")
        print(f"{path}: {len(surface['assistant'])} agent tools, {len(surface['user'])} user tools")


if __name__ == "__main__":
    main()
