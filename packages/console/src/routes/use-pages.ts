import type { PageEntry } from "./page-entry.ts";
import { pagesFor } from "./pages.ts";
import { getRole, useUser } from "../session/session.ts";
import { useStatus } from "../session/status.ts";
import { useHasTeams } from "../session/teams.ts";

/** Returns the pages for the signed-in user, or for a visitor. */
export function usePages(): readonly PageEntry[] {
  const user = useUser();
  const hasTeams = useHasTeams();
  const pages = pagesFor(getRole(user), useStatus()).filter(({ isOfTeams }) => hasTeams || isOfTeams !== true);
  return user ? pages : pages.filter(({ access }) => access === "public");
}
