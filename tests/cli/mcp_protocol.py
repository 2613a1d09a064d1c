"""The protocol of `ridge mcp`: versions, messages that are wrong, many calls at once, and calls that are given up."""

from checks import check, equal
from mcp_session import FIXTURES, META, MODERN, PATIENCE_S, SANITIZED, Running, call, exchange, fixture, request, text_of


def test_a_version_is_agreed_on():
    for asked, agreed in {"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2024-11-05": "2024-11-05", "2025-03-26": "2024-11-05",
                          "2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25", "latest": "2025-11-25"}.items():
        result = exchange([fixture("fault_casts")], [request(0, "initialize", protocolVersion=asked, capabilities={}, clientInfo={"name": "t", "version": "1"})])[0]["result"]
        equal(result["protocolVersion"], agreed, asked)
        equal(result["serverInfo"]["name"], "ridge", "who answers")
        check("never instructions" in result["instructions"], "the instructions")


def test_structured_content_only_for_who_knows_it():
    for version, structured in {"2024-11-05": False, "2025-06-18": True}.items():
        answers = exchange([fixture("fault_casts")], [request(0, "initialize", protocolVersion=version, capabilities={}), call(1, "open")])
        equal("structuredContent" in answers[1]["result"], structured, version)
        check('id "repeated_casts"' in text_of(answers[1]["result"]), "the text tells all")


def test_requests_that_tell_their_version():
    def asked(method, meta=MODERN, **params):
        return exchange([fixture("fault_casts")], [request(1, method, _meta=meta, **params)])[0]

    discovered = asked("server/discover")["result"]
    equal(discovered["supportedVersions"], ["2026-07-28"], "versions")
    for method, params in {"server/discover": {}, "tools/list": {}, "tools/call": {"name": "devices"}}.items():
        result = asked(method, **params)["result"]
        equal(result["resultType"], "complete", method)
        equal(result["_meta"][META + "serverInfo"]["name"], "ridge", method)
        equal("ttlMs" in result, method != "tools/call", method)
    equal(asked("tools/list", meta={META + "protocolVersion": "2026-07-28"})["error"]["code"], -32602, "without capabilities")
    equal(asked("server/discover", meta={})["error"]["code"], -32602, "without a version")
    equal(asked("ping")["error"]["code"], -32601, "what this version does not have")
    error = asked("tools/list", meta={**MODERN, META + "protocolVersion": "2199-01-01"})["error"]
    equal((error["code"], error["data"]), (-32022, {"supported": ["2026-07-28"], "requested": "2199-01-01"}), "a version of the future")


def test_wrong_messages_get_their_code_and_the_next_one_an_answer():
    deep = "[" * 100_000
    wrong = {
        "no JSON": -32700, '{"jsonrpc":"2.0",': -32700, deep: -32700, '{"a":' * 50_000: -32700, b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}': -32700,
        "[]": -32600, '[{"jsonrpc":"2.0","id":1,"method":"ping"}]': -32600, "7": -32600, "null": -32600, "{}": -32600,
        '{"jsonrpc":"1.0","id":1,"method":"ping"}': -32600, '{"jsonrpc":"2.0","id":null,"method":"ping"}': -32600,
        '{"jsonrpc":"2.0","id":1.5,"method":"ping"}': -32600, '{"jsonrpc":"2.0","id":{},"method":"ping"}': -32600,
        '{"jsonrpc":"2.0","id":"' + "x" * 300 + '","method":"ping"}': -32600, '{"jsonrpc":"2.0","id":1,"method":3}': -32600,
        '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}': -32602, '{"jsonrpc":"2.0","id":1,"method":"rm -rf"}': -32601,
        '{"jsonrpc":"2.0","id":1,"method":"resources/list"}': -32601,
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}': -32602,
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"kernal"}}': -32602,
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open","arguments":"x"}}': -32602,
        '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}': -32602,
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}': -32602,
    }
    messages = [each for message in wrong for each in (message, request("after", "ping"))]
    answers = exchange([fixture("fault_casts")], messages)
    codes = [answer["error"]["code"] for answer in answers if "error" in answer]
    equal(codes, list(wrong.values()), "codes")
    unread = [answer for answer in answers if "error" in answer and answer["error"]["code"] in (-32700,)]
    check(unread and all("id" in answer and answer["id"] is None for answer in unread), "an id that could not be read is null")
    check(all("id" in answer for answer in answers), "every answer has an id")
    equal(sum(answer.get("id") == "after" and answer.get("result") == {} for answer in answers), len(wrong), "answers after them")


def test_what_wants_no_answer_gets_none():
    silent = ["", "  \r", {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "method": "notifications/cancelled"},
              {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {"deep": [1]}}}, {"jsonrpc": "2.0", "method": "no/such"},
              {"jsonrpc": "2.0", "id": 4, "result": {}}, {"jsonrpc": "2.0", "id": 4, "error": {"code": 1, "message": "x"}}]
    equal(exchange([fixture("fault_casts")], silent + [request(1, "ping")]), [{"jsonrpc": "2.0", "id": 1, "result": {}}], "answers")


def test_a_line_of_100_mb_is_not_kept():
    with Running(fixture("fault_casts")) as running:
        running.send(request(1, "ping"))
        running.next()
        before = running.memory()
        for _ in range(100):
            running.process.stdin.write(b"x" * 1_000_000)
        running.send("", request(2, "ping"))
        equal(running.next()["error"]["code"], -32600, "the long line")
        equal(running.next()["id"], 2, "the next one")
        check(SANITIZED or running.memory() - before < 32e6, f"{running.memory() - before} bytes more")


def test_an_id_that_is_under_way_is_refused():
    answers = exchange(["--root", FIXTURES], [call(7, "open", trace="gpt_compiled_train.json.gz"), call(7, "devices")])
    equal(sorted("error" in answer for answer in answers), [False, True], "answers")
    equal(next(answer["error"]["code"] for answer in answers if "error" in answer), -32600, "code")


def test_many_calls_at_once_are_answered_or_refused_each_once():
    answers = exchange([fixture("fault_casts")], [call(i, "gpu") for i in range(300)])
    equal(sorted(answer["id"] for answer in answers), list(range(300)), "ids")
    said = {text_of(answer["result"]).split("\n")[0].split(" of ")[0] for answer in answers}
    check(said <= {"gpu", 'error: "too many calls wait"'}, str(said))


def test_a_call_that_waits_is_cancelled_without_an_answer():
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3, "reason": "enough"}}
    slow = [call(i, "open", trace=name + ".json.gz") for i, name in enumerate(["gpt_compiled_train", "resnet18_compiled_stack_mem"])]
    answers = exchange(["--root", FIXTURES], [*slow, call(3, "devices"), cancelled, request(4, "ping")])
    equal(sorted(answer["id"] for answer in answers), [0, 1, 4], "answers")


ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"


def test_two_endless_queries_hold_up_nobody_and_are_cancelled():
    with Running(fixture("fault_casts")) as running:
        running.send(call(1, "sql", query=ENDLESS), call(2, "sql", query=ENDLESS), call(3, "gpu"))
        equal(running.next()["id"], 3, "what is answered while both run")
        running.send(*({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": i}} for i in (1, 2)), call(4, "devices"))
        equal(running.next()["id"], 4, "what is answered then")
        running.process.stdin.close()
        equal((running.process.stdout.read(), running.process.wait(PATIENCE_S)), (b"", 0), "no answer to what was cancelled, and no waiting for it")
