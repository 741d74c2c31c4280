import { expect, test } from "vitest";
import { ACTIONS, findAction } from "./actions.ts";
import { countReplicas, drawSchedule } from "./draw.ts";
import { parseSchedule, SETTINGS, type Schedule } from "./schedule.ts";
import { shorten } from "./shorten.ts";

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);

test("a seed draws the same schedule again, and another seed another one", () => {
  expect(drawSchedule(7)).toEqual(drawSchedule(7));
  expect(drawSchedule(7).rounds).not.toEqual(drawSchedule(7 + SETTINGS.length).rounds);
  expect(parseSchedule(JSON.stringify(drawSchedule(7)))).toEqual(drawSchedule(7));
  expect(() => parseSchedule("{}")).toThrow("the file has no schedule");
});

test("the faults of a setting fit it, and those of one part do not overlap", () => {
  for (const { setting, rounds } of SEEDS.map((seed) => drawSchedule(seed))) {
    for (const events of rounds) {
      const ends = new Map<string, number>();
      for (const { action, replica, atMs, lastsMs } of events) {
        expect(findAction(action).fits(setting)).toBe(true);
        expect(replica).toBeLessThan(countReplicas(setting));
        for (const part of findAction(action).parts(replica)) {
          expect(atMs).toBeGreaterThan(ends.get(part) ?? -1);
          ends.set(part, atMs + lastsMs);
        }
      }
    }
  }
});

test("each fault is drawn sooner or later", () => {
  const drawn = new Set(
    SEEDS.flatMap((seed) =>
      drawSchedule(seed)
        .rounds.flat()
        .map(({ action }) => action),
    ),
  );
  expect(ACTIONS.filter(({ name }) => !drawn.has(name))).toEqual([]);
});

test("a schedule that fails is shortened to the events that matter", async () => {
  const schedule = drawSchedule(3);
  const events = schedule.rounds.flat();
  const [first, last] = [events[0], events.at(-1)];
  const has = ({ rounds }: Schedule) => [first, last].every((event) => event && rounds.flat().includes(event));
  const short = await shorten(schedule, async (shorter) => has(shorter), 100);
  expect(short.rounds.flat()).toEqual([first, last]);
  expect(await shorten(schedule, async () => false, 100)).toEqual(schedule);
});
