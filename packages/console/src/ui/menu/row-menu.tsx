import { ROLE } from "@fairway/wire";
import { useNavigate } from "react-router";
import { getRole, useUser } from "../../session/session.ts";
import { Icon } from "../display/icon.tsx";
import { RowButton } from "../display/row-button.tsx";
import { useMenuButton } from "./menu-button.tsx";
import { buildHistoryAddress } from "./history-link.ts";
import type { MenuEntry, OpenMenu } from "./menu.ts";
import { useTexts } from "../texts.ts";

interface RowMenuProps {
  readonly name: string;
  readonly entries: OpenMenu["entries"];
  /** The row as the audit log names it, such as `channel 7`: those who may read that log get its history. */
  readonly target?: string;
}

/** Puts an entry above the last line of a menu, which parts the dangerous ones. */
function insertAboveLine(entries: OpenMenu["entries"], entry: MenuEntry): OpenMenu["entries"] {
  const line = entries.lastIndexOf(undefined);
  return line === -1 ? [...entries, entry] : [...entries.slice(0, line), entry, ...entries.slice(line)];
}

/** The `⋯` button of a row. */
export function RowMenu({ name, entries, target }: RowMenuProps) {
  const t = useTexts();
  const navigate = useNavigate();
  const isRoot = getRole(useUser()) >= ROLE.root;
  const label = t("actionsOf", { name });
  const history: MenuEntry | undefined =
    target !== undefined && isRoot
      ? {
          id: "history",
          label: t("history"),
          icon: "audit",
          run: () => void navigate(buildHistoryAddress(target)),
        }
      : undefined;
  const shown = history ? insertAboveLine(entries, history) : entries;
  return (
    <RowButton label={label} hasTip={false} data-row-menu="" {...useMenuButton({ label, entries: shown })}>
      <Icon name="dots" />
    </RowButton>
  );
}
