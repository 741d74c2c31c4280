import { TEAM_STATUS, type TeamView } from "@fairway/wire";
import { Box, Button, NativeSelect, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { Link, useNavigate, useParams } from "react-router";
import type { Version } from "../../../lib/rows.ts";
import { useUrlState } from "../../../lib/url-state.ts";
import { useOwnTeams } from "../../../session/teams.ts";
import { isRowId, RowPage } from "../../../shared/row/row-page.tsx";
import { useRights, type TeamRights } from "../../../shared/teams/rights.ts";
import { teamQuery } from "../../../shared/teams/team-query.ts";
import { Page } from "../../../ui/display/page.tsx";
import { NoticeBar } from "../../../ui/feedback/notice-bar.tsx";
import { restoreTeam } from "../api.ts";
import { TeamMark } from "../state-mark.tsx";
import { useTexts } from "../texts.ts";
import { roleText } from "../words.ts";
import { Budgets } from "./budgets.tsx";
import { Keys } from "./keys.tsx";
import { Members } from "./members.tsx";
import { Overview } from "./overview.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { Settings } from "./settings.tsx";
import { Usage } from "./usage.tsx";
import { Wallet } from "./wallet.tsx";
import "../teams.css";

const STATE = { tab: "overview" };

const TABS = ["overview", "keys", "members", "wallet", "budgets", "usage", "settings"] as const;
type Tab = (typeof TABS)[number];

const TAB_TEXT = {
  overview: "tabOverview",
  keys: "keys",
  members: "members",
  wallet: "tabWallet",
  budgets: "budgets",
  usage: "tabUsage",
  settings: "tabSettings",
} as const;

/** Returns the tabs that have something for the reader. */
function tabsFor({ seeKeys, report }: TeamRights): readonly Tab[] {
  return TABS.filter((tab) => (tab !== "keys" || seeKeys) && (tab !== "usage" || report));
}

interface TabsProps {
  readonly team: TeamView;
  readonly tabs: readonly Tab[];
  readonly open: Tab;
  /** What has pages of its own: reports, and the endpoints for events for who may change them. */
  readonly rights: TeamRights;
}

function Tabs(props: TabsProps) {
  const t = useTexts();
  return (
    <nav className="team-tabs" aria-label={t("tabs", { name: props.team.name })}>
      {props.tabs.map((tab) => (
        <Link
          key={tab}
          className="team-tab"
          to={tab === "overview" ? `/team/${props.team.id}` : `/team/${props.team.id}?tab=${tab}`}
          aria-current={tab === props.open ? "page" : undefined}
        >
          {t(TAB_TEXT[tab])}
        </Link>
      ))}
      {props.rights.report && (
        <Link className="team-tab" to={`/team/${props.team.id}/report`}>
          {t("tabReports")}
        </Link>
      )}
      {props.rights.manage && (
        <Link className="team-tab" to={`/team/${props.team.id}/webhook`}>
          {t("tabEvents")}
        </Link>
      )}
    </nav>
  );
}

/** Leads to another team of the reader, on the same tab. */
function Switcher({ team, tab }: { readonly team: TeamView; readonly tab: Tab }) {
  const t = useTexts();
  const navigate = useNavigate();
  const own = useOwnTeams() ?? [];
  const others = own.filter(({ id }) => id !== team.id);
  if (others.length === 0) return null;
  return (
    <NativeSelect.Root size="sm" width="auto" maxW="60">
      <NativeSelect.Field
        aria-label={t("switchTeam")}
        value={String(team.id)}
        onChange={({ target }) => void navigate(`/team/${target.value}${tab === "overview" ? "" : `?tab=${tab}`}`)}
      >
        {[team, ...others]
          .toSorted((a, b) => a.name.localeCompare(b.name))
          .map(({ id, name }) => (
            <option key={id} value={String(id)}>
              {name}
            </option>
          ))}
      </NativeSelect.Field>
      <NativeSelect.Indicator />
    </NativeSelect.Root>
  );
}

/** Only administrators read a deleted team, to restore it. */
function Deleted({ team }: { readonly team: TeamView }) {
  const t = useTexts();
  const restore = () =>
    restoreTeam(team.id).then(() => toast("success", t("restored", { name: team.name })), toastProblem);
  return (
    <Page title={team.name}>
      <NoticeBar
        icon="trash"
        hue="cardinal"
        actions={
          <Button size="sm" variant="outline" onClick={() => void restore()}>
            {t("restore")}
          </Button>
        }
      >
        {t("isDeleted")}
      </NoticeBar>
    </Page>
  );
}

function Shown({ version }: { readonly version: Version<TeamView> }) {
  const t = useTexts();
  const team = version.row;
  const rights = useRights(team);
  const [state] = useUrlState(STATE);
  const tabs = tabsFor(rights);
  const tab = tabs.find((name) => name === state.tab) ?? "overview";
  const part = { team, rights };
  return (
    <Page
      title={team.name}
      aside={
        <Box display="flex" gap="2" alignItems="center" flexWrap="wrap" color="fg.muted" textStyle="sm">
          <Text as="span" fontFamily="mono">
            {team.slug}
          </Text>
          {team.role !== "" && <Text as="span">{roleText(t, team.role)}</Text>}
          <TeamMark team={team} />
        </Box>
      }
      actions={<Switcher team={team} tab={tab} />}
    >
      <Tabs team={team} tabs={tabs} open={tab} rights={rights} />
      {team.status !== TEAM_STATUS.on && (
        <NoticeBar icon="pause" hue="cardinal">
          {t("isOff")}
        </NoticeBar>
      )}
      {
        {
          overview: <Overview {...part} />,
          keys: <Keys {...part} />,
          members: <Members {...part} />,
          wallet: <Wallet {...part} />,
          budgets: <Budgets {...part} />,
          usage: <Usage {...part} />,
          settings: <Settings {...part} version={version} />,
        }[tab]
      }
    </Page>
  );
}

/** One team, in tabs: money, keys, members, budgets, usage and settings. */
export function TeamPage() {
  const t = useTexts();
  const id = Number(useParams()["id"]);
  const query = useQuery({ ...teamQuery(id), enabled: isRowId(id) });
  const missing = {
    key: "team_not_found",
    icon: "users",
    title: t("missingTitle"),
    body: t("missingBody"),
    list: { path: "/team", label: t("allTeams") },
  } as const;
  return (
    <RowPage title={t("team")} id={id} row={query.data} query={query} missing={missing}>
      {(version) => (
        <Fragment key={id}>
          {version.row.deleted_at > 0 ? <Deleted team={version.row} /> : <Shown version={version} />}
        </Fragment>
      )}
    </RowPage>
  );
}
