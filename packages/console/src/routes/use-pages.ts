import { pagesFor, type PageEntry } from "./pages.ts";
import { getRole, useUser } from "../session/session.ts";
import { useStatus } from "../session/status.ts";

/** The pages offered to the user who is signed in, or to a visitor. */
export function usePages(): readonly PageEntry[] {
  const user = useUser();
  const pages = pagesFor(getRole(user), useStatus());
  return user ? pages : pages.filter(({ access }) => access === "public");
}
