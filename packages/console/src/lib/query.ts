import { MutationCache, QueryClient } from "@tanstack/react-query";
import { isTransient, readWaitMs } from "./problems.ts";

const FRESH_LIST_MS = 15_000;
/** How long slow-moving answers (groups, models, status) count as fresh. */
export const FRESH_STATIC_MS = 300_000;

const TRIES = 2;

let onMutationProblem: (problem: unknown) => void = () => {};

export function whenMutationFails(action: (problem: unknown) => void): void {
  onMutationProblem = action;
}

/** Returns how often a query repeats: every `everyMs`, and for a part of the server that is away when the server says. */
export function repeatWhenAway(everyMs: number | false) {
  return (query: { readonly state: { readonly error: unknown } }): number | false =>
    readWaitMs(query.state.error) ?? everyMs;
}

export const queryClient = new QueryClient({
  mutationCache: new MutationCache({ onError: (problem) => onMutationProblem(problem) }),
  defaultOptions: {
    queries: {
      staleTime: FRESH_LIST_MS,
      retry: (count, problem) => count < TRIES && isTransient(problem) && readWaitMs(problem) === undefined,
      retryDelay: (count) => 500 * 2 ** count,
      networkMode: "always",
      refetchInterval: repeatWhenAway(false),
      // In that mode, the library leaves it out. It is unknown what changed while the connection was down.
      refetchOnReconnect: "always",
    },
    mutations: { networkMode: "always" },
  },
});
