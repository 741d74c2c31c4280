import { expect, test, vi } from "vitest";
import { watchLastingState } from "./lasting-state.ts";

function open(report: (finding: string, forMs: number) => Promise<void>) {
  let now = 0;
  let state: string | undefined | Error;
  const look = watchLastingState<string>({
    afterMs: 20,
    elapsed: () => now,
    look: () => (state instanceof Error ? Promise.reject(state) : state),
    report,
  });
  return async (at: number, next: string | undefined | Error) => {
    now = at;
    state = next;
    await look();
  };
}

test("a state is reported when it has lasted, once until it is over", async () => {
  const report = vi.fn<(finding: string, forMs: number) => Promise<void>>().mockResolvedValue();
  const at = open(report);
  for (const [ms, state] of [
    [0, "bad"],
    [10, "bad"],
    [15, undefined],
    [30, "bad"],
    [49, "bad"],
  ] as const)
    await at(ms, state);
  expect(report).not.toHaveBeenCalled();
  await at(50, "worse");
  await at(90, "worse");
  expect(report.mock.calls).toEqual([["worse", 20]]);
  await at(100, undefined);
  await at(110, "bad again");
  await at(130, "bad again");
  expect(report.mock.calls).toEqual([
    ["worse", 20],
    ["bad again", 20],
  ]);
});

test("a report that cannot be written is written later, also when the state is over", async () => {
  const report = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error("the database is away"));
  const at = open(report);
  await at(0, "bad");
  await expect(at(20, "bad")).rejects.toThrow("the database is away");
  await at(30, undefined);
  await at(40, undefined);
  expect(report).toHaveBeenCalledTimes(2);
});

test("time in which the state could not be seen does not count", async () => {
  const report = vi.fn<() => Promise<void>>().mockResolvedValue();
  const at = open(report);
  await at(0, "bad");
  await expect(at(10, new Error("no answer"))).rejects.toThrow("no answer");
  await at(25, "bad");
  expect(report).not.toHaveBeenCalled();
});
