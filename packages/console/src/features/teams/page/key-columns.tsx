import { NEVER_EXPIRES, resolveLastUse, type TeamToken } from "@fairway/wire";
import { StateMark } from "../../../shared/tokens/state-mark.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { When } from "../../../ui/display/when.tsx";
import type { Column } from "../../../ui/grid/grid-props.ts";
import type { useTexts } from "../texts.ts";

export function keyColumns(t: ReturnType<typeof useTexts>): Column<TeamToken>[] {
  return [
    {
      id: "name",
      header: t("name"),
      width: 180,
      isElastic: true,
      isTitle: true,
      cell: ({ name, id }) => (
        <span className="cut">
          <bdi>{name || `#${id}`}</bdi>
        </span>
      ),
    },
    {
      id: "maker",
      header: t("maker"),
      width: 130,
      rank: 1,
      cell: (token) => (
        <span className="cut">
          {token.service_account > 0 ? (
            t("serviceAccount", { id: token.service_account })
          ) : (
            <bdi>{token.member_name || t("noMaker")}</bdi>
          )}
        </span>
      ),
    },
    { id: "state", header: t("state"), width: 110, rank: 0, cell: (token) => <StateMark token={token} /> },
    {
      id: "used",
      header: t("spent"),
      width: 150,
      rank: 0,
      align: "end",
      cell: (token) => (
        <span className="nowrap">
          <Money quota={token.used_quota} />{" "}
          {!token.unlimited_quota && (
            <span className="soft">
              {t("ofLimit")} <Money quota={token.used_quota + token.remain_quota} />
            </span>
          )}
        </span>
      ),
    },
    { id: "group", header: t("group"), width: 100, rank: 4, isMinor: true, cell: ({ group }) => group || "–" },
    {
      id: "expires",
      header: t("expires"),
      width: 100,
      rank: 3,
      cell: ({ expired_time: at }) =>
        at === NEVER_EXPIRES ? <span className="soft">{t("never")}</span> : <When at={at} />,
    },
    {
      id: "lastUse",
      header: t("lastUse"),
      width: 110,
      rank: 2,
      cell: (token) => {
        const at = resolveLastUse(token);
        return at === 0 ? <span className="soft">{t("never")}</span> : <When at={at} />;
      },
    },
  ];
}
