"""The queue of searches: a first answer goes before research, nobody's place is lost, nobody waits for ever."""

import asyncio
import threading

import pytest

from clinical.coding.search_queue import SearchQueue


def held(search_queue: SearchQueue) -> tuple[asyncio.Task[None], threading.Event]:
    """A piece of work that holds a place until the event is set."""
    end = threading.Event()
    return asyncio.ensure_future(search_queue.first(lambda: end.wait(30) and None)), end


def test_first_answers_go_before_research_that_came_before_them():
    async def order() -> list[str]:
        search_queue, done = SearchQueue(1), []
        holder, end = held(search_queue)
        await asyncio.sleep(0)
        work = [asyncio.ensure_future(search_queue.later(done.append, "research")) for _ in range(2)]
        await asyncio.sleep(0)
        work += [asyncio.ensure_future(search_queue.first(done.append, "first")) for _ in range(2)]
        await asyncio.sleep(0)
        end.set()
        await asyncio.gather(holder, *work)
        return done

    assert asyncio.run(order()) == ["first", "first", "research", "research"]


def test_a_turn_comes_when_no_first_answer_is_waited_for_and_holds_no_place():
    async def order() -> list[str]:
        search_queue, done = SearchQueue(1), []

        async def turn(name: str) -> None:
            await search_queue.turn()
            done.append(name)

        await asyncio.wait_for(turn("at once"), 10)
        holder, end = held(search_queue)
        await asyncio.sleep(0)
        await asyncio.wait_for(turn("beside what works"), 10)
        first = asyncio.ensure_future(search_queue.first(done.append, "first"))
        await asyncio.sleep(0)
        turns = [asyncio.ensure_future(turn(name)) for name in ("one", "two", "three")]
        await asyncio.sleep(0)
        turns[0].cancel()
        end.set()
        await asyncio.gather(holder, first, *turns, return_exceptions=True)
        await asyncio.wait_for(search_queue.later(done.append, "later"), 10)
        return done

    assert asyncio.run(order()) == ["at once", "beside what works", "first", "two", "three", "later"]


def test_no_more_work_runs_at_once_than_there_are_places():
    async def most() -> int:
        search_queue, running, seen, lock = SearchQueue(2), 0, 0, threading.Lock()

        def work() -> None:
            nonlocal running, seen
            with lock:
                running += 1
                seen = max(seen, running)
            threading.Event().wait(0.005)
            with lock:
                running -= 1

        await asyncio.gather(
            *(search_queue.first(work) for _ in range(10)), *(search_queue.later(work) for _ in range(10))
        )
        return seen

    assert asyncio.run(most()) == 2


def test_who_leaves_while_waiting_or_working_keeps_nobody_from_the_place():
    async def result() -> str:
        search_queue = SearchQueue(1)
        working, end = held(search_queue)
        await asyncio.sleep(0)
        waiting = asyncio.ensure_future(search_queue.later(str, "never"))
        await asyncio.sleep(0)
        waiting.cancel()
        working.cancel()
        end.set()
        assert await asyncio.gather(waiting, working, return_exceptions=True)
        return await asyncio.wait_for(search_queue.later(str, "here"), 10)

    assert asyncio.run(result()) == "here"


def test_who_leaves_just_when_the_turn_comes_passes_it_on():
    async def result() -> str:
        search_queue = SearchQueue(1)
        working, end = held(search_queue)
        await asyncio.sleep(0)
        waiting = [asyncio.ensure_future(search_queue.later(str, name)) for name in ("one", "two")]
        await asyncio.sleep(0)
        search_queue._pass_on()  # the turn is given to the first, which has not woken yet
        waiting[0].cancel()
        end.set()
        await working
        return await asyncio.wait_for(waiting[1], 10)

    assert asyncio.run(result()) == "two"


def test_an_error_of_the_work_comes_through_and_the_place_is_free_again():
    async def both() -> str:
        search_queue = SearchQueue(1)
        with pytest.raises(ValueError, match="invalid literal"):
            await search_queue.first(int, "x")
        return await asyncio.wait_for(search_queue.first(str, "fine"), 10)

    assert asyncio.run(both()) == "fine"
