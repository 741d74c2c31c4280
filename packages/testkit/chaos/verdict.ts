// The result of a round, and the problems in it.
import type { Books } from "./books.ts";
import type { LogLine } from "../src/gateway.ts";
import type { Completion } from "./client.ts";
import type { Fault } from "./faults.ts";
import type { LiveBooks } from "./live-books.ts";
import type { DatabaseName, StoreName } from "./servers.ts";

/** One fault under load, and its effects. */
export interface Phase {
  readonly fault: Fault;
  readonly about: string;
  readonly note: string;
  /** Why the fault could not be done as planned; "" = it was done. */
  readonly failure: string;
  readonly seconds: number;
  /** Requests that started in this phase, by result. */
  readonly completions: Readonly<Record<Completion, number>>;
  /** Answers that completed while the fault lasted. */
  readonly deliveredDuring: number;
  /** Time until the first answer to a request that started after the fault ended. */
  readonly recoveredMs: number;
  /** Time until the books agreed. */
  readonly agreedMs: number;
  readonly books: Books;
  /** Requests that failed although the fault is harmless. */
  readonly harmed: readonly string[];
  /** True if the fault was one of Redis, and no replica was connected to Redis. */
  readonly isIdle: boolean;
  /** Why requests failed, with counts. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** All faults on one database and one store. */
export interface Round {
  readonly database: DatabaseName;
  readonly store: StoreName;
  readonly phases: readonly Phase[];
  readonly requests: number;
  readonly withheld: number;
  readonly completions: Readonly<Record<Completion, number>>;
  readonly books: Books;
  readonly live: LiveBooks;
  readonly deaths: readonly string[];
  /** Log of every process that was started. */
  readonly logs: Readonly<Record<string, readonly LogLine[]>>;
  /** Errors and warnings of all replicas, by message. */
  readonly complaints: Readonly<Record<string, number>>;
  /** Time from the end of the load until nothing was reserved. */
  readonly quietMs: number;
  readonly seconds: number;
}

/** Returns the problems of a round, in words; if there are none, it passed. */
export function listProblems(round: Round): string[] {
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
