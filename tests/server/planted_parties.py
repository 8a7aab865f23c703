"""A stochastic agent and an obedient user for end-to-end runs, as answers to chat requests.

The agent walks the golden actions of the case it is told about. Before each golden call it calls a name that does not
exist with the planted `hallucination`; after such a failed call it does so again with probability 1 - `recovery`. So per
golden call it makes hallucination / recovery wrong calls on average, and of all its calls the share
h / (h + recovery) is wrong, h being the hallucination rate. Nothing is remembered between requests: the position is
found again in the conversation, and every draw is a hash of (planted seed, case, the request's seed, the
conversation's length).

 - Names constrained (strict tools or a structural tag in the request): it cannot write a wrong name, so it substitutes,
   half a wrong tool, half a wrong argument.
 - Told the valid names (a repair message): it issues the golden call with probability `repair`, else a wrong name again.
 - A golden action of the user's: it says "please do: <name> <json>" and the user makes that call.
"""
import hashlib
import json
import math
import re

CASE = re.compile(r"case <(.*?)>")
ORDER = re.compile(r"please do: (\S+) (\{.*\})", re.S)
FINISHED = "Everything is done."
DEFAULT_NAMES = {"lookup_record": 3.0, "fetch_customer": 2.0, "update_account": 1.0}


class CannotTell(Exception):
    """The conversation does not say which case it is about."""


def uniform(*parts):
    """In [0, 1), a hash of the parts."""
    digest = hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2.0**64


def text_of(message):
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""


def squeezed(text):
    return " ".join(str(text).split())


def leaves(value):
    if isinstance(value, dict):
        return [leaf for key, item in value.items() if key != "domain" for leaf in leaves(item)]
    return [squeezed(value)] if isinstance(value, str) and value.strip() else []


class Cases:
    """The tasks of a tasks.json, found by the text of their scenario or by a marker "case <id>" in it."""

    def __init__(self, tasks):
        self.actions, self.communicated, self.scenarios = {}, {}, {}
        for task in tasks:
            criteria = task.get("evaluation_criteria") or {}
            case = str(task["id"])
            self.actions[case] = [self.action(a) for a in criteria.get("actions") or []]
            self.communicated[case] = [str(text) for text in criteria.get("communicate_info") or []]
            instructions = task["user_scenario"]["instructions"]
            self.scenarios[case] = [squeezed(instructions)] if isinstance(instructions, str) else leaves(instructions)
        self.found = {}

    @staticmethod
    def action(action):
        side = "user" if action.get("requestor") == "user" else "assistant"
        return side, action["name"], action.get("arguments") or {}

    def of_scenario(self, prompt):
        key = hash(prompt)
        if key not in self.found:
            self.found[key] = self.look_up(prompt)
        return self.found[key]

    def look_up(self, prompt):
        for marked in CASE.findall(prompt):
            if marked in self.actions:
                return marked
        text = squeezed(prompt)
        fitting = [(sum(map(len, parts)), case) for case, parts in self.scenarios.items()
                   if parts and all(part in text for part in parts)]
        longest = max((size for size, _ in fitting), default=0)
        best = [case for size, case in fitting if size == longest]
        if len(best) != 1:
            raise CannotTell(f"{len(best)} tasks have the scenario of this prompt; mark them with --mark")
        return best[0]


def mark(tasks):
    """The tasks with "case <id>" in every scenario, for domains whose scenarios repeat."""
    for task in tasks:
        scenario = task["user_scenario"]
        marker = f"This is case <{task['id']}>."
        if isinstance(scenario["instructions"], str):
            scenario["instructions"] += " " + marker
        else:
            known = scenario["instructions"].get("known_info")
            scenario["instructions"]["known_info"] = f"{known} {marker}" if known else marker
    return tasks


def said(text):
    return {"role": "assistant", "content": text}


def called(name, arguments, place):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = {"id": f"call_{place}", "type": "function", "function": {"name": name, "arguments": text}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def calls_of(message):
    for call in message.get("tool_calls") or []:
        try:
            yield call["function"]["name"], json.loads(call["function"]["arguments"])
        except (KeyError, TypeError, ValueError):
            yield None, None


def offered_names(request):
    return [tool["function"]["name"] for tool in request.get("tools") or []]


def is_constrained(request):
    strict = any(tool["function"].get("strict") for tool in request.get("tools") or [])
    return strict or (request.get("response_format") or {}).get("type") == "structural_tag"


def is_repair(message, offered):
    if message.get("role") not in ("tool", "user", "system"):
        return False
    words = set(re.findall(r"\w+", text_of(message)))
    return len(words & set(offered)) >= min(3, len(offered)) > 0


def weighted(weights, u):
    total = sum(weights.values())
    for name, weight in weights.items():
        u -= weight / total
        if u < 0:
            return name
    return next(iter(weights))


def without_shadows(weights, offered):
    """Names that happen to be offered would not be hallucinated."""
    return {name: weight for name, weight in weights.items() if name not in offered} or {"no_such_tool": 1.0}


class Agent:
    def __init__(self, cases, rates):
        self.cases, self.rates = cases, rates

    def position(self, messages, golden):
        """(golden actions already made, whether a call since the last of them was another)."""
        place, strayed, asked = 0, False, False
        for message in messages:
            if message.get("role") == "assistant":
                for name, arguments in calls_of(message):
                    if place < len(golden) and golden[place] == ("assistant", name, arguments):
                        place, strayed = place + 1, False
                    else:
                        strayed = True
                asked = ORDER.search(text_of(message)) is not None
            elif message.get("role") == "user" and asked and place < len(golden) and golden[place][0] == "user":
                place, asked, strayed = place + 1, False, False
        return place, strayed

    def case(self, messages):
        for message in messages:
            if message.get("role") == "user":
                for case in CASE.findall(text_of(message)):
                    if case in self.cases.actions:
                        return case
        raise CannotTell("no message of the user names a case")

    def reply(self, request):
        messages = request["messages"]
        if not any(m.get("role") == "user" and CASE.search(text_of(m)) for m in messages) and offered_names(request):
            # Asked for a name that is not offered, to see whether the names are constrained.
            name = offered_names(request)[0] if is_constrained(request) else "no_such_tool"
            return called(name, {}, len(messages))
        case = self.case(messages)
        golden = self.cases.actions[case]
        place, strayed = self.position(messages, golden)
        if place == len(golden):
            return said(" ".join([*self.cases.communicated[case], FINISHED]))
        side, name, arguments = golden[place]
        if side == "user":
            return said(f"please do: {name} {json.dumps(arguments)}")
        draw = lambda what: uniform(self.rates.get("seed", 0), case, request.get("seed"), len(messages), what)
        if draw("stray") < self.stray_chance(request, strayed):
            return self.stray(request, name, arguments, draw)
        return called(name, arguments, len(messages))

    def stray_chance(self, request, strayed):
        if strayed and is_repair(request["messages"][-1], offered_names(request)):
            return 1.0 - self.rates.get("repair", 1.0)
        return 1.0 - self.rates.get("recovery", 1.0) if strayed else self.rates.get("hallucination", 0.0)

    def stray(self, request, name, arguments, draw):
        offered = offered_names(request)
        place = len(request["messages"])
        if not is_constrained(request):
            wrong = weighted(without_shadows(self.rates.get("names") or DEFAULT_NAMES, offered), draw("name"))
            return called(wrong, arguments, place)
        others = sorted(set(offered) - {name})
        texts = [key for key, value in arguments.items() if isinstance(value, str)]
        if texts and (draw("form") < 0.5 or not others):
            return called(name, {**arguments, texts[0]: arguments[texts[0]] + "_x"}, place)
        # An argument no tool takes: the wrong tool fails instead of changing the world.
        return called(others[int(draw("other") * len(others))] if others else name,
                      {**arguments, "not_a_parameter": 1}, place)


class User:
    """Sees the roles flipped: the agent's messages are "user", its own "assistant"."""

    def __init__(self, cases):
        self.cases = cases

    def reply(self, request):
        messages = request["messages"]
        if not any(m.get("role") == "assistant" for m in messages):
            prompt = "\n".join(text_of(m) for m in messages if m.get("role") == "system")
            return said(f"Hello. This is about case <{self.cases.of_scenario(prompt)}>.")
        last = messages[-1]
        if last.get("role") == "tool":
            return said("I have done that.")
        order = ORDER.search(text_of(last))
        if order:
            return called(order.group(1), order.group(2), len(messages))
        return said("###STOP###" if FINISHED in text_of(last) else "Please go on.")


class Judge:
    """Finds every expected outcome met."""

    def reply(self, request):
        outcomes = re.findall(r"^\d+\. (.*)$", text_of(request["messages"][-1]).split("Expected outcomes:")[-1], re.M)
        return said(json.dumps({"results": [{"expectedOutcome": outcome, "reasoning": "planted", "metExpectation": True}
                                            for outcome in outcomes]}))


def logprobs_of(message, sure):
    """Tokens of the call's name or of the text, as a model `sure` of each would give them."""
    calls = message.get("tool_calls")
    text = calls[0]["function"]["name"] if calls else message.get("content") or ""
    tokens = []
    for token in re.findall(r"_?[^_\s]+|\s+|_", text):
        top = [{"token": token, "logprob": math.log(sure)}, {"token": "?", "logprob": math.log(1 - sure)}]
        tokens.append({"token": token, "logprob": math.log(sure), "top_logprobs": top})
    return {"content": tokens}
