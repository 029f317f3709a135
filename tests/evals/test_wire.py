"""HTTP by hand: what is sent is what HTTP/1.1 asks for, and the head of an answer is read once it is whole."""

from evals.wire import head_of, request_bytes


def test_a_request_says_its_host_and_the_length_of_its_body():
    assert request_bytes("http://h:1/a?b=c", {}) == b"GET /a?b=c HTTP/1.1\r\nHost: h:1\r\n\r\n"
    posted = request_bytes("http://h:1/a", {"X": "y"}, method="POST", body=b"zz")
    assert posted == b"POST /a HTTP/1.1\r\nHost: h:1\r\nX: y\r\nContent-Length: 2\r\n\r\nzz"


def test_the_head_of_an_answer_is_read_once_it_is_whole():
    whole = b"HTTP/1.1 302 Found\r\nLocation: /a: b\r\nSet-Cookie: x=1\r\n\r\n"
    assert all(head_of(whole[:end]) is None for end in range(len(whole)))
    head = head_of(whole + b"body")
    assert head is not None
    assert (head.status, head.get("location"), head.get("content-length"), head.length) == (
        302,
        "/a: b",
        "",
        len(whole),
    )
