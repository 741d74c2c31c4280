import { Box, Text } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link } from "react-router";
import { formatCount, formatElapsed } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { logAddress } from "../../../shared/usage/log-link.ts";
import { MarkShape, type MarkKind } from "../../../ui/display/mark.tsx";
import { When } from "../../../ui/display/when.tsx";
import { LoadFailed } from "../../../ui/feedback/empty.tsx";
import { Panel, PanelRow } from "../../../ui/display/panel.tsx";
import { useTexts } from "../texts.ts";
import { troubleQuery } from "./api.ts";
import { findTrouble, type Trouble, type TroubleKind } from "./trouble.ts";

const MARKS: Record<TroubleKind, MarkKind> = {
  disabled: "stop",
  open: "stop",
  failing: "caution",
  errors: "caution",
  resting: "caution",
};

const MOST = 8;

function Reason({ trouble }: { readonly trouble: Trouble }) {
  const t = useTexts();
  const language = useLanguage();
  const { kind, reason, at, keys, waitMs, calls, errors } = trouble;
  const wait = formatElapsed(waitMs / 1000);
  return (
    <Text as="span" color="fg.muted" overflowWrap="anywhere">
      {kind === "disabled" && (reason === "" ? t("troubleDisabled") : t("troubleDisabledWhy", { reason }))}
      {kind === "open" && t(waitMs < 500 ? "troubleOpenNow" : "troubleOpen", { keys, wait })}
      {kind === "failing" && t("troubleFailing", { keys })}
      {kind === "resting" && t("troubleResting", { keys, wait })}
      {kind === "errors" &&
        t("troubleErrors", { errors: formatCount(errors, language), calls: formatCount(calls, language) })}
      {at !== undefined && (
        <>
          {" · "}
          <When at={at} />
        </>
      )}
    </Text>
  );
}

/** Channels that need an operator, with the reason and a link to their failed calls. */
export function TroublePanel() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(troubleQuery);
  const troubles = useMemo(() => data && findTrouble(data), [data]);
  if (error && !data) return <LoadFailed problem={error} onRetry={() => void refetch()} />;
  return (
    <Panel
      title={t("trouble")}
      count={troubles?.length}
      empty={t("troubleNone")}
      link={
        <Link className="link" to="/channel">
          {t("allChannels")}
        </Link>
      }
    >
      {troubles?.slice(0, MOST).map((trouble) => (
        <PanelRow key={trouble.id}>
          <MarkShape kind={MARKS[trouble.kind]} />
          <Box flex="1" minW="0">
            <Link className="link" to={`/channel/${trouble.id}`}>
              <bdi>{trouble.name}</bdi>
            </Link>{" "}
            <Reason trouble={trouble} />
          </Box>
          <Link className="link nowrap" to={logAddress({ range: "24h", isErrors: true, channel: String(trouble.id) })}>
            {t("failingCalls")}
          </Link>
        </PanelRow>
      ))}
    </Panel>
  );
}
