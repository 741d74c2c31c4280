import type { User } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { formatCount } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { useUser } from "../../../session/session.ts";
import { TotalFacts } from "../../../shared/usage/total-facts.tsx";
import { Facts } from "../../../ui/display/facts.tsx";
import { Money } from "../../../ui/display/money.tsx";
import { When } from "../../../ui/display/when.tsx";
import { useLimitsLine } from "../../../ui/form/limits-line.ts";
import { PeekActions } from "../../../ui/peek/peek-actions.tsx";
import { PeekPanel } from "../../../ui/peek/peek-panel.tsx";
import type { RowPeekState } from "../../../ui/peek/use-peek.ts";
import { isOpenTo } from "../access.ts";
import { roleText, StateMark } from "../columns.tsx";
import { lastCallQuery, shownUserQuery } from "../page/api.ts";
import { TokensPanel } from "../page/tokens-panel.tsx";
import { useTexts } from "../texts.ts";

function LastCall({ id }: Pick<User, "id">) {
  const t = useTexts();
  const { data, isPending } = useQuery(lastCallQuery(id));
  if (isPending) return "…";
  return data === undefined || data === null ? t("noCall") : <When at={data} />;
}

function Account({ user }: { readonly user: User }) {
  const t = useTexts();
  const language = useLanguage();
  const limits = useLimitsLine()(user.limits) ?? t("asEverybody");
  return (
    <Facts
      title={t("account")}
      items={[
        [t("group"), user.group],
        [t("balance"), <Money key="balance" quota={user.quota} />],
        [t("used"), <Money key="used" quota={user.used_quota} />],
        [t("calls"), formatCount(user.request_count, language)],
        [t("lastCall"), <LastCall key="last" id={user.id} />],
        [t("sectionLimits"), limits],
        [t("displayName"), user.display_name],
        [t("email"), user.email],
        [t("invited"), user.aff_count === 0 ? "" : formatCount(user.aff_count, language)],
        [t("inviter"), user.inviter_id > 0 ? `#${user.inviter_id}` : ""],
      ]}
    />
  );
}

/** Shows a user next to the list: permissions, balance and activity. */
export function UserPeek({ peek }: { readonly peek: RowPeekState<User> }) {
  const t = useTexts();
  const own = useUser();
  const { listed, id } = peek;
  const query = useQuery({ ...shownUserQuery(id ?? 0), enabled: listed === undefined && id !== undefined });
  return (
    <PeekPanel
      peek={peek}
      row={listed ?? query.data}
      query={query}
      unknown={t("user")}
      missing={{ key: "user_not_found", body: t("missingTitle") }}
      title={(user) => <bdi>{user.username}</bdi>}
      lead={(user) => (
        <>
          <StateMark user={user} />
          <span>
            #{user.id} · {t(roleText(user.role))}
          </span>
        </>
      )}
    >
      {(user) => (
        <>
          {isOpenTo(own, user) && (
            <PeekActions
              edit={{ path: `/user/edit/${user.id}`, label: t("editRow") }}
              page={{ path: `/user/${user.id}`, label: t("openPage") }}
            />
          )}
          <div className="facts">
            <Account user={user} />
            <TotalFacts
              title={t("lastDay")}
              asked={{ by: "user", subject: String(user.id), range: "24h", isOwn: false }}
              part={{ user: user.username }}
            />
          </div>
          {isOpenTo(own, user) && <TokensPanel id={user.id} />}
        </>
      )}
    </PeekPanel>
  );
}
