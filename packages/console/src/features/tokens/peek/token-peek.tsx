import { useQuery } from "@tanstack/react-query";
import type { Token } from "@fairway/wire";
import { StateMark } from "../../../shared/tokens/state-mark.tsx";
import { shownTokenQuery } from "../../../shared/tokens/shown-token.ts";
import { TotalFacts } from "../../../shared/usage/total-facts.tsx";
import { useUser } from "../../../session/session.ts";
import { Facts } from "../../../ui/display/facts.tsx";
import { PeekActions } from "../../../ui/peek/peek-actions.tsx";
import { PeekPanel } from "../../../ui/peek/peek-panel.tsx";
import type { RowPeekState } from "../../../ui/peek/use-peek.ts";
import { useTokenFacts, type ShownToken } from "../facts.tsx";
import { useTexts } from "../texts.ts";

function TokenStory({ token }: { readonly token: ShownToken }) {
  const t = useTexts();
  const user = useUser();
  const isOwn = token.user_id === user?.id;
  const facts = useTokenFacts(token);
  return (
    <>
      <PeekActions
        edit={isOwn ? { path: `/token/edit/${token.id}`, label: t("editRow") } : undefined}
        page={{ path: `/token/${token.id}`, label: t("openPage") }}
      />
      <div className="facts">
        <Facts title={t("facts")} items={facts} />
        <TotalFacts
          title={t("lastDay")}
          asked={{ by: "token", subject: String(token.id), range: "24h", isOwn, userId: token.user_id }}
          part={{ tokenId: String(token.id) }}
        />
      </div>
    </>
  );
}

/** Shows a token next to the list: its permissions and its activity. */
export function TokenPeek({ peek }: { readonly peek: RowPeekState<Token> }) {
  const t = useTexts();
  const { listed, id } = peek;
  const query = useQuery({ ...shownTokenQuery(id ?? 0), enabled: listed === undefined && id !== undefined });
  const row: ShownToken | undefined = listed ?? query.data?.row;
  return (
    <PeekPanel
      peek={peek}
      row={row}
      query={query}
      unknown={t("title")}
      missing={{ key: "token_not_found", body: t("missingTitle") }}
      title={(token) => <bdi>{token.name || `#${token.id}`}</bdi>}
      lead={(token) => <StateMark token={token} />}
    >
      {(token) => <TokenStory token={token} />}
    </PeekPanel>
  );
}
