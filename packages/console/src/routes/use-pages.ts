import { pagesFor, type PageEntry } from "./pages.ts";
import { getRole, useUser } from "../session/session.ts";
import { useStatus } from "../session/status.ts";

/** Returns the pages for the signed-in user, or for a visitor. */
export function usePages(): readonly PageEntry[] {
  const user = useUser();
  const pages = pagesFor(getRole(user), useStatus());
  return user ? pages : pages.filter(({ access }) => access === "public");
}
