import { pagesFor, type PageEntry } from "./pages.ts";
import { roleOf, useUser } from "../session/session.ts";
import { useStatus } from "../session/status.ts";

/** The pages offered to the user who is signed in. */
export function usePages(): readonly PageEntry[] {
  return pagesFor(roleOf(useUser()), useStatus());
}
