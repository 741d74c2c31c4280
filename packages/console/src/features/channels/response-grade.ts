import type { Grade } from "../../ui/display/mark.tsx";

/** Grades of response times in milliseconds; slower ones are red. */
const GRADES: readonly (readonly [number, Grade])[] = [
  [1_000, "green"],
  [3_000, "lime"],
  [5_000, "yellow"],
];

export function responseGrade(milliseconds: number): Grade {
  if (milliseconds === 0) return "grey";
  return GRADES.find(([most]) => milliseconds <= most)?.[1] ?? "red";
}
