import { Box, Flex, Text } from "@chakra-ui/react";
import { JOB_STATUS, type ImportCount, type ImportRun } from "@fairway/wire";
import { Link } from "react-router";
import { Progress } from "../../../ui/feedback/progress.tsx";
import { isRunning } from "./import-calls.ts";
import { useTexts } from "./texts.ts";

interface Kind {
  readonly label:
    | "channels"
    | "users"
    | "tokens"
    | "keys"
    | "teams"
    | "options"
    | "prices"
    | "redemptions"
    | "topUps"
    | "drawings"
    | "tasks"
    | "sums"
    | "logs"
    | "readingFile";
  /** Where the items are; "" = they have no page. */
  readonly path: string;
}

/** Kinds of items by their names in reports. */
const KINDS: Readonly<Record<string, Kind>> = {
  channels: { label: "channels", path: "/channel" },
  users: { label: "users", path: "/user" },
  tokens: { label: "tokens", path: "/token" },
  keys: { label: "keys", path: "/token" },
  teams: { label: "teams", path: "/team" },
  options: { label: "options", path: "/setting" },
  prices: { label: "prices", path: "/setting?tab=prices" },
  "redemption codes": { label: "redemptions", path: "/redemption" },
  "top-ups": { label: "topUps", path: "" },
  drawings: { label: "drawings", path: "/midjourney" },
  tasks: { label: "tasks", path: "/task" },
  "hourly sums": { label: "sums", path: "/detail" },
  logs: { label: "logs", path: "/log" },
  file: { label: "readingFile", path: "" },
};

const OUTCOMES = ["created", "updated", "unchanged", "skipped"] as const;

function CountLine({ count, isDry }: { readonly count: ImportCount; readonly isDry: boolean }) {
  const t = useTexts();
  const { label, path } = KINDS[count.what] ?? {};
  const name = label === undefined ? count.what : t(label);
  const parts = OUTCOMES.flatMap((outcome) => (count[outcome] > 0 ? [t(outcome, { count: count[outcome] })] : []));
  const isLinked = !isDry && path !== undefined && path !== "";
  return (
    <>
      {isLinked ? (
        <Link className="link" to={path}>
          {name}
        </Link>
      ) : (
        name
      )}
      {`: ${parts.join(", ")}`}
    </>
  );
}

function RunProgress({ run }: { readonly run: ImportRun }) {
  const t = useTexts();
  const percent = run.total === 0 ? "" : `${Math.min(99, Math.floor((run.done / run.total) * 100))}%`;
  const { label } = KINDS[run.step] ?? {};
  return (
    <Flex role="status" align="center" gap="3" wrap="wrap" textStyle="sm">
      <Text fontWeight="medium">{t(run.dry_run ? "trying" : "importing")}</Text>
      {percent !== "" && <Progress label={t(run.dry_run ? "trying" : "importing")} text={percent} isFailed={false} />}
      <Text color="fg.muted">
        {label === undefined ? run.step : t(label)} {run.done > 0 ? t("rows", { count: run.done }) : ""}
      </Text>
    </Flex>
  );
}

/** Progress of an import or a trial, then everything that it did and lost. */
export function RunReport({ run, isEarlier }: { readonly run: ImportRun; readonly isEarlier: boolean }) {
  const t = useTexts();
  if (isRunning(run)) return <RunProgress run={run} />;
  const title = t(run.dry_run ? "wouldDo" : "done");
  const isWhole = run.status === JOB_STATUS.done;
  return (
    <Box role="region" aria-label={title}>
      {!isWhole && (
        <Text role="alert" color="fg.error" mb="2">
          {run.status === JOB_STATUS.failed ? t("failed", { reason: run.reason }) : t("interrupted")}
        </Text>
      )}
      <Text fontWeight="medium" mb="1" role="status">
        {title}
        {isEarlier && run.place !== "" && (
          <Text as="span" color="fg.muted" fontWeight="normal">
            {` · ${run.place}`}
          </Text>
        )}
      </Text>
      <Box as="ul" className="bulk-preview" tabIndex={0} aria-label={title}>
        {run.counts.map((count) => (
          <Box as="li" key={count.what} overflowWrap="anywhere">
            <CountLine count={count} isDry={run.dry_run} />
          </Box>
        ))}
        {run.notes.map((note) => (
          <Box as="li" key={note} overflowWrap="anywhere">
            {note}
          </Box>
        ))}
        {run.counts.length + run.notes.length === 0 && <li>{t("nothing")}</li>}
      </Box>
    </Box>
  );
}
