import type { Status } from "@fairway/wire";
import type { ComponentType } from "react";
import type { IconName } from "../ui/display/icon.tsx";

export type Section = "use" | "watch" | "operate";

export type Access = "public" | "user" | "admin" | "root";

interface PageModule {
  readonly Component: ComponentType;
}

/** A page of the console: route, sidebar entry, access, shortcut and palette entry all derive from this record. */
export interface PageEntry {
  readonly path: string;
  /** Key of the label in the texts of `app`. */
  readonly label:
    | "overview"
    | "token"
    | "log"
    | "channel"
    | "users"
    | "settings"
    | "pricing"
    | "redemption"
    | "wallet"
    | "team"
    | "dashboard"
    | "compare"
    | "report"
    | "drawing"
    | "task"
    | "batches"
    | "files"
    | "caches"
    | "budget"
    | "ownBudget"
    | "audit"
    | "documents"
    | "event"
    | "webhook"
    | "operatorWebhook"
    | "identityProvider"
    | "serviceAccount"
    | "playground"
    | "chat"
    | "about"
    | "start";
  readonly icon: IconName;
  /** Absent for pages above the sections, and for those outside the sidebar. */
  readonly section?: Section;
  /** True if the page is not reached from the sidebar. */
  readonly isAside?: boolean;
  readonly access: Access;
  /** Returns whether the operator enabled the page; absent = always. */
  isOn?(status: Status): boolean;
  /** True if only people in teams, and those who may create one, see its entry. */
  readonly isOfTeams?: boolean;
  /** The key to press after `g`; pages that others lead to have none. */
  readonly key?: string;
  load(): Promise<PageModule>;
  /** Drawers that open over the page, by path below it. */
  readonly drawers?: Readonly<Record<string, () => Promise<PageModule>>>;
  /** Pages of one row, which replace this page, by path below it. */
  readonly details?: Readonly<Record<string, () => Promise<PageModule>>>;
}
