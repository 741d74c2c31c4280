import type { SavingsAsked } from "./api.ts";
import { Batches } from "./batches.tsx";
import { Caches } from "./caches.tsx";

/** What prompt caches and batches saved, with a request for each. */
export function Savings({ asked }: { readonly asked: SavingsAsked }) {
  return (
    <>
      <Caches asked={asked} />
      <Batches asked={asked} />
    </>
  );
}
