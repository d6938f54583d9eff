"""Results of tau-bench and tau2-bench as recordings."""

from __future__ import annotations

from typing import Any

from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Decided,
    Malformed,
    Refused,
    Truncated,
    UserSaid,
)
from sandtrail.ledgers.trajectory import Ended
from sandtrail.sandbox.interchange import tau, tau2
from sandtrail.sandbox.interchange.recording import Recording


def call(key: str, arguments: str = '{"user_id": "u1"}') -> dict[str, Any]:
    return {"id": key, "type": "function", "function": {"name": "get_user", "arguments": arguments}}


def assistant(*calls: dict[str, Any], content: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {})}


def tool(key: str, content: Any = "{}") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "name": "get_user", "content": content}


def result(*messages: Any, task: Any = 3, trial: Any = 0, **more: Any) -> dict[str, Any]:
    return {"task_id": task, "trial": trial, "reward": 1.0, "info": {}, "traj": list(messages), **more}


def only(value: object) -> Recording:
    (found,) = tau.read(value, "runs")
    return found


def codes(recording: Recording) -> list[str]:
    return [flaw.code for flaw in recording.flaws]


def test_the_first_message_is_the_policy_and_the_rest_a_conversation() -> None:
    found = only(
        [
            result(
                {"role": "system", "content": "Policy."},
                {"role": "user", "content": "Hi."},
                assistant(call("c1")),
                tool("c1", '{"name": "Mia"}'),
                assistant(content="Hello Mia."),
            )
        ]
    )
    kinds = [type(message) for message in found.conversation]
    assert kinds == [Briefed, UserSaid, Decided, Answered, Decided]
    assert (found.id, found.place, found.reward, found.flaws) == ("runs/task-3", "/0", 1.0, ())


def test_results_pair_with_calls_by_order_where_ids_repeat() -> None:
    found = only(
        [
            result(
                assistant(call("c1", arguments='{"user_id": "a"}')),
                tool("c1", "first"),
                assistant(call("c1", arguments='{"user_id": "b"}')),
                tool("c1", "second"),
            )
        ]
    )
    answers = [message for message in found.conversation if isinstance(message, Answered)]
    assert [(one.call.arguments["user_id"], one.text) for one in answers] == [("a", "first"), ("b", "second")]
    assert found.flaws == ()


def test_only_the_first_call_of_a_message_was_carried_out() -> None:
    found = only([result(assistant(call("c1"), call("c2")), tool("c1"), assistant(content="Done."))])
    answers = [message.call.id for message in found.conversation if isinstance(message, Answered)]
    assert answers == ["c1"]
    assert found.flaws == ()


def test_an_error_is_a_plain_text() -> None:
    found = only([result(assistant(call("c1")), tool("c1", "Error: user not found"))])
    (answer,) = [message for message in found.conversation if isinstance(message, Answered)]
    assert answer.is_error


def test_several_trials_are_told_apart_by_name() -> None:
    names = [one.id for one in tau.read([result(trial=0), result(trial=1), result(task=4)], "runs")]
    assert names == ["runs/task-3.0", "runs/task-3.1", "runs/task-4.0"]


def test_one_result_alone_is_a_run_too() -> None:
    found = only(result(assistant(content="Hi."), trial=2))
    assert (found.id, found.place) == ("runs/task-3.2", "")


def test_a_call_without_its_result_is_told_unless_it_ends_the_run() -> None:
    broken = only([result(assistant(call("c1")), {"role": "user", "content": "And?"})])
    open_end = only([result(assistant(call("c1")))])
    assert [(flaw.code, flaw.at) for flaw in broken.flaws] == [("wire.unpaired_tool_use", "c1")]
    assert open_end.flaws == ()


def test_a_result_without_its_call_is_told() -> None:
    found = only([result(assistant(call("c1")), tool("c1"), tool("c1"))])
    assert [(flaw.code, flaw.at) for flaw in found.flaws] == [("wire.orphan_tool_result", "c1")]


def test_messages_that_were_stripped_are_not_silence() -> None:
    found = only([result({"role": "user", "content": None}, assistant(content="Hi."), tool("c9", None))])
    assert [flaw.at for flaw in found.flaws if flaw.code == "trace.no_content"] == ["traj.0, traj.2"]


def test_one_bad_result_does_not_hide_the_others() -> None:
    read = list(tau.read([result(assistant(content="Hi.")), {"task_id": 4}, 5], "runs"))
    assert [codes(one) for one in read] == [[], ["wire.unreadable"], ["wire.unreadable"]]
    assert [one.place for one in read] == ["/0", "/1", "/2"]


def test_a_reward_that_is_no_number_is_no_reward() -> None:
    assert [only([result(reward=value)]).reward for value in ("1", None, 10**60, True)] == [
        None,
        None,
        None,
        1.0,
    ]


# -- tau2 ------------------------------------------------------------------------------------------------


def said(role: str, content: str | None, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": list(calls) or None, **more}


def called(key: str, requestor: str = "assistant", **arguments: Any) -> dict[str, Any]:
    return {"id": key, "name": "get_user", "arguments": arguments, "requestor": requestor}


def answered(
    key: str, content: str = "{}", *, error: bool = False, requestor: str = "assistant"
) -> dict[str, Any]:
    return {"role": "tool", "id": key, "content": content, "requestor": requestor, "error": error}


def simulated(*messages: Any, policy: Any = "Policy.", tasks: Any = (), **more: Any) -> Recording:
    run = {"task_id": "25", "trial": 0, "termination_reason": "user_stop", "messages": list(messages), **more}
    info = {"environment_info": {"domain_name": "retail", "policy": policy, "tool_defs": None}}
    (found,) = tau2.read({"info": info, "tasks": list(tasks), "simulations": [run]}, "runs")
    return found


def test_the_policy_is_read_before_the_agent_greets() -> None:
    found = simulated(said("assistant", "Hi!"), said("user", "Hello."))
    assert found.conversation[0] == Briefed("Policy.")
    assert (found.id, found.place, found.flaws) == ("runs/task-25", "/simulations/0", ())


def test_parallel_calls_and_their_results_pair_by_id() -> None:
    found = simulated(
        said("assistant", None, called("a", user_id="u1"), called("b", user_id="u2")),
        answered("a", "one"),
        answered("b", "Error: no", error=True),
    )
    decided, *answers = found.conversation[1:]
    assert isinstance(decided, Decided)
    assert isinstance(decided.decision, Calls)
    assert [one.batch for one in decided.decision.calls] == [0, 1]
    pairs = [(one.call.arguments["user_id"], one.is_error) for one in answers if isinstance(one, Answered)]
    assert pairs == [("u1", False), ("u2", True)]


def test_the_simulated_users_own_tools_are_no_decisions_of_the_agent() -> None:
    found = simulated(
        said("assistant", "Please restart it."),
        said("user", None, called("u", requestor="user")),
        answered("u", "restarted", requestor="user"),
        said("user", "Done."),
        said("assistant", None, called("x", requestor="user"), called("a")),
        answered("a"),
    )
    kinds = [type(message) for message in found.conversation]
    assert kinds == [Briefed, Decided, UserSaid, Decided, Answered]
    assert found.flaws == ()


def test_a_flag_says_what_the_text_does_not() -> None:
    found = simulated(said("assistant", None, called("a")), answered("a", "not there", error=True))
    assert [one.is_error for one in found.conversation if isinstance(one, Answered)] == [True]


def test_an_answer_that_was_no_message_is_malformed() -> None:
    found = simulated(
        said("assistant", "", errors=["Invalid message format.\nMore"]), termination_reason="agent_error"
    )
    last = found.conversation[-1]
    assert isinstance(last, Decided)
    assert last.decision == Malformed("Invalid message format.", "Invalid message format.\nMore")
    assert found.ended is Ended.AGENT_ERROR


def test_what_the_provider_said_of_its_end_is_kept() -> None:
    cut = simulated(said("assistant", "So", called("a"), raw_data={"finish_reason": "length"}))
    declined = simulated(said("assistant", "No.", raw_data={"finish_reason": "content_filter"}))
    empty = simulated(said("assistant", ""))
    decisions = [one.conversation[-1] for one in (cut, declined, empty)]
    kinds = [type(one.decision) for one in decisions if isinstance(one, Decided)]
    assert kinds == [Truncated, Refused, Malformed]


def test_arguments_as_text_are_read_and_broken_ones_told() -> None:
    found = simulated(
        said(
            "assistant",
            None,
            {"id": "a", "name": "get_user", "arguments": '{"user_id": "u1"}'},
            {"id": "b", "name": "get_user", "arguments": [1]},
        )
    )
    (decided,) = found.conversation[1:]
    assert isinstance(decided, Decided)
    assert isinstance(decided.decision, Calls)
    assert [(dict(one.arguments), bool(one.flaw)) for one in decided.decision.calls] == [
        ({"user_id": "u1"}, False),
        ({}, True),
    ]


def test_results_of_one_batch_may_come_in_one_message() -> None:
    both = {"role": "tool", "tool_messages": [answered("a"), answered("b")]}
    found = simulated(said("assistant", None, called("a"), called("b")), both)
    assert found.flaws == ()
    assert sum(isinstance(one, Answered) for one in found.conversation) == 2


def test_a_lost_result_is_told() -> None:
    found = simulated(said("assistant", None, called("a"), called("b")), answered("a"), said("user", "And?"))
    assert [(flaw.code, flaw.at) for flaw in found.flaws] == [("wire.unpaired_tool_use", "b")]


def test_the_ticket_of_an_agent_without_a_user_is_read_first() -> None:
    found = simulated(
        said("system", "Be brief."), policy=None, tasks=[{"id": "25", "ticket": "Line 3 is dead."}, 4]
    )
    assert found.conversation == (Briefed("Line 3 is dead."), Briefed("Be brief."))


def test_a_document_without_simulations_is_unreadable() -> None:
    assert [codes(one) for one in tau2.read({"simulations": []}, "runs")] == [["wire.unreadable"]]
    assert [codes(one) for one in tau2.read({"simulations": [{"messages": 5}]}, "runs")] == [
        ["wire.unreadable"]
    ]
    assert not tau2.recognises([])


def test_one_simulation_alone_is_a_run_too() -> None:
    (found,) = tau2.read(
        {"task_id": "3", "termination_reason": "max_steps", "messages": [said("user", "Hi.")]}, "x"
    )
    assert (found.id, found.place, found.ended) == ("x/task-3", "", Ended.MAX_STEPS)


def test_stripped_messages_of_a_simulation_are_not_silence() -> None:
    found = simulated(said("assistant", None), said("user", "Hello?"))
    assert [(flaw.code, flaw.at) for flaw in found.flaws] == [("trace.no_content", "messages.0")]
