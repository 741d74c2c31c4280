import { REDEMPTION_STATUS, type Redemption } from "@fairway/wire";
import { Link } from "react-router";
import { SecretCell } from "../../ui/content/secret-cell.tsx";
import { Mark, type MarkKind } from "../../ui/display/mark.tsx";
import { Money } from "../../ui/display/money.tsx";
import { When } from "../../ui/display/when.tsx";
import type { Column } from "../../ui/grid/grid-props.ts";
import { useTexts } from "./texts.ts";

/** States of a code, by its status. */
export const STATES: Readonly<Record<number, { mark: MarkKind; text: "unused" | "used" | "disabled" }>> = {
  [REDEMPTION_STATUS.unused]: { mark: "go", text: "unused" },
  [REDEMPTION_STATUS.disabled]: { mark: "parked", text: "disabled" },
  [REDEMPTION_STATUS.used]: { mark: "unknown", text: "used" },
};

/** Shows whether the code can be redeemed. */
export function StateMark({ row }: { readonly row: Redemption }) {
  const t = useTexts();
  const state = STATES[row.status] ?? { mark: "unknown" as const, text: "disabled" as const };
  return <Mark kind={state.mark} label={t(state.text)} />;
}

type Texts = ReturnType<typeof useTexts>;

/** Shows the code itself, masked until the user reveals it. */
export function buildSecret({ key, name }: Redemption, t: Texts) {
  return {
    text: key,
    masked: `${key.slice(0, 4)}…${key.slice(-4)}`,
    reveal: t("reveal", { name }),
    conceal: t("conceal", { name }),
    copy: t("copyCode", { name }),
  };
}

export function codeColumns(t: Texts): Column<Redemption>[] {
  return [
    { id: "id", header: t("id"), width: 56, rank: 5, align: "end", cell: (row) => row.id },
    {
      id: "name",
      header: t("name"),
      width: 180,
      isElastic: true,
      isTitle: true,
      cell: (row) => (
        <span className="cut">
          <bdi>{row.name}</bdi>
        </span>
      ),
    },
    {
      id: "code",
      header: t("code"),
      width: 180,
      cell: (row) => <SecretCell {...buildSecret(row, t)} />,
    },
    { id: "state", header: t("state"), width: 104, cell: (row) => <StateMark row={row} /> },
    { id: "value", header: t("value"), width: 96, rank: 0, align: "end", cell: (row) => <Money quota={row.quota} /> },
    { id: "created", header: t("created"), width: 110, isMinor: true, cell: (row) => <When at={row.created_time} /> },
    {
      id: "used",
      header: t("usedBy"),
      width: 90,
      isMinor: true,
      cell: (row) =>
        row.used_user_id > 0 ? (
          <Link className="link" to={`/user/edit/${row.used_user_id}`}>
            #{row.used_user_id}
          </Link>
        ) : (
          <span className="soft">–</span>
        ),
    },
  ];
}
