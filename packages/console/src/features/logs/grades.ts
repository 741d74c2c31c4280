import type { Grade } from "../../ui/display/mark.tsx";

/** Grades the duration of a request, in seconds. */
export function durationGrade(value: number): Grade {
  if (value < 101) return "green";
  return value < 300 ? "orange" : "red";
}

/** Grades the time to the first token. */
export function firstTokenGrade(milliseconds: number): Grade {
  if (milliseconds < 3_000) return "green";
  return milliseconds < 10_000 ? "orange" : "red";
}
