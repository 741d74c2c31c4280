import { REDEMPTION_STATUS, type Redemption } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { SecretCell } from "../../../ui/content/secret-cell.tsx";
import { Facts } from "../../../ui/display/facts.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { When } from "../../../ui/display/when.tsx";
import { PeekActions } from "../../../ui/peek/peek-actions.tsx";
import { PeekPanel } from "../../../ui/peek/peek-panel.tsx";
import type { RowPeekState } from "../../../ui/peek/use-peek.ts";
import { personQuery, shownCodeQuery } from "../api.ts";
import { buildSecret, StateMark } from "../columns.tsx";
import { useTexts } from "../texts.ts";

/** Shows a user by name, or by number if this administrator may not read the account. */
function Person({ id }: { readonly id: number }) {
  const { data } = useQuery(personQuery(id));
  return (
    <Link className="link" to={`/user?row=${id}`}>
      <bdi>{data?.username ?? `#${id}`}</bdi>
    </Link>
  );
}

function Code({ row }: { readonly row: Redemption }) {
  const t = useTexts();
  return (
    <Facts
      title={t("code")}
      items={[
        [t("code"), <SecretCell key="code" {...buildSecret(row, t)} />],
        [t("value"), <Money key="value" quota={row.quota} />],
        [t("created"), <When key="created" at={row.created_time} />],
        [t("createdBy"), row.user_id > 0 ? <Person key="creator" id={row.user_id} /> : ""],
        [t("usedBy"), row.used_user_id > 0 ? <Person key="user" id={row.used_user_id} /> : ""],
        [t("redeemed"), row.redeemed_time > 0 ? <When key="redeemed" at={row.redeemed_time} /> : ""],
      ]}
    />
  );
}

/** Shows a code next to the list: its value, and who redeemed it when. */
export function CodePeek({ peek }: { readonly peek: RowPeekState<Redemption> }) {
  const t = useTexts();
  const { listed, id } = peek;
  const query = useQuery({ ...shownCodeQuery(id ?? 0), enabled: listed === undefined && id !== undefined });
  return (
    <PeekPanel
      peek={peek}
      row={listed ?? query.data?.rows[0]}
      query={query}
      unknown={t("code")}
      missing={{ key: "code_not_found", body: t("missing") }}
      title={(row) => <bdi>{row.name}</bdi>}
      lead={(row) => (
        <>
          <StateMark row={row} />
          <span>#{row.id}</span>
        </>
      )}
    >
      {(row) => (
        <>
          {row.status === REDEMPTION_STATUS.unused && (
            <PeekActions edit={{ path: `/redemption/edit/${row.id}`, label: t("editRow") }} />
          )}
          <div className="facts">
            <Code row={row} />
          </div>
        </>
      )}
    </PeekPanel>
  );
}
