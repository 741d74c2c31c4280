/** Returns the number of runs of a slow property test: all of them in the full suite, a fifth in the default one. */
export function propertyRuns(most: number): number {
  return process.env["FAIRWAY_TEST_RUNS"] === "full" ? most : Math.ceil(most / 5);
}
