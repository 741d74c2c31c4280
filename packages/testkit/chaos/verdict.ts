import type { Books } from "./books.ts";
import type { Phase, Round } from "./round.ts";

/** Everything that speaks against a round, in words; none = it passed. */
export function problemsOf(round: Round): string[] {
  return [
    ...(round.phases.length === 0 ? ["no fault was tried"] : []),
    ...round.phases.flatMap(phaseProblems),
    ...booksProblems("at the end", round.books),
    ...round.live.findings.map((finding) => `at the end: ${finding}`),
    ...(round.live.accounts === 0
      ? ["Redis keeps no balance: the replicas did not share their accounts through it"]
      : []),
    ...(Number.isFinite(round.quietMs) ? [] : ["at the end: reservations or differences stayed"]),
    ...round.deaths,
  ];
}

/** The problems of one phase. */
export function phaseProblems(phase: Phase): string[] {
  const { fault, failure, completions, deliveredDuring, recoveredMs, isIdle, harmed, books } = phase;
  const delivered = completions.delivered;
  return [
    ...(failure === "" ? [] : [failure]),
    ...(isIdle ? ["no replica was connected to Redis, so nothing was proved"] : []),
    ...(delivered === 0 ? ["no request was delivered in the whole phase"] : []),
    ...(deliveredDuring === 0 && !fault.isTotal ? ["no answer was delivered while the fault lasted"] : []),
    ...(Number.isFinite(recoveredMs) ? [] : ["no one was answered after the fault"]),
    ...harmed.map((request) => `harmed: ${request}`),
    ...booksProblems("books", books),
  ].map((problem) => `${fault.name}: ${problem}`);
}

function booksProblems(when: string, { findings }: Books): string[] {
  return Object.entries(findings).flatMap(([kind, list]: [string, readonly string[]]) =>
    list.map((finding) => `${when}: ${kind}: ${finding}`),
  );
}
