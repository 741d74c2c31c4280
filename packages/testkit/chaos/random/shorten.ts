import type { Event, Schedule } from "./schedule.ts";

/**
 * Returns the shortest schedule that it finds which still fails: leaves out halves of its events, then quarters and so
 * on, and never tries more than `tries` times. Timing is not part of a schedule, so each one that is shorter is run.
 */
export async function shorten(
  schedule: Schedule,
  fails: (shorter: Schedule) => Promise<boolean>,
  tries: number,
): Promise<Schedule> {
  let rest = number(schedule);
  let left = tries;
  for (let parts = 2; rest.length > 1 && parts <= 2 * rest.length && left > 0;) {
    const size = Math.ceil(rest.length / parts);
    let isShorter = false;
    for (let from = 0; from < rest.length && left > 0; from += size) {
      const candidate = [...rest.slice(0, from), ...rest.slice(from + size)];
      if (candidate.length === 0) continue;
      left -= 1;
      if (!(await fails(build(schedule, candidate)))) continue;
      rest = candidate;
      isShorter = true;
      break;
    }
    if (!isShorter) parts *= 2;
  }
  return build(schedule, rest);
}

interface Numbered {
  readonly round: number;
  readonly event: Event;
}

function number({ rounds }: Schedule): Numbered[] {
  return rounds.flatMap((events, round) => events.map((event) => ({ round, event })));
}

/** Leaves out rounds without an event. */
function build(schedule: Schedule, rest: readonly Numbered[]): Schedule {
  const rounds = schedule.rounds.map((_, at) => rest.flatMap(({ round, event }) => (round === at ? [event] : [])));
  return { ...schedule, rounds: rounds.filter((events) => events.length > 0) };
}
