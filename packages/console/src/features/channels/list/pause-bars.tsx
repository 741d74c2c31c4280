import { Button, Text } from "@chakra-ui/react";
import type { ChannelPause } from "@fairway/wire";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { formatCount } from "../../../lib/format.ts";
import { useLanguage } from "../../../lib/i18n.ts";
import { When } from "../../../ui/display/when.tsx";
import { NoticeBar } from "../../../ui/feedback/notice-bar.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { pausesQuery, resumePause } from "../pauses-api.ts";
import { useTexts } from "../texts.ts";

const MAX_NAMES = 4;

function PauseEnd({ pause }: { readonly pause: ChannelPause }) {
  const t = useTexts();
  const { until, until_tests: isTested } = pause;
  if (until === 0) return t(isTested ? "pauseUntilTests" : "pauseUntilResumed");
  return (
    <>
      {t(isTested ? "pauseTestsFrom" : "pauseUntil")} <When at={until} />
    </>
  );
}

function PauseBar({ pause }: { readonly pause: ChannelPause }) {
  const t = useTexts();
  const language = useLanguage();
  const [isSaving, setSaving] = useState(false);
  const held = pause.channels.filter(({ paused }) => paused);
  const names = held.slice(0, MAX_NAMES).map(({ name }) => name);
  const rest = held.length - names.length;
  const resume = () => {
    setSaving(true);
    resumePause(pause.id)
      .then(() => toast("success", t("resumed", { count: held.length })), toastProblem)
      .finally(() => setSaving(false));
  };
  return (
    <NoticeBar
      icon="pause"
      hue="fairway"
      actions={
        <Button size="xs" loading={isSaving} onClick={resume}>
          {t("resumeNow")}
        </Button>
      }
    >
      <Text as="span" fontWeight="medium">
        {t("pausedCount", { count: held.length })}
      </Text>{" "}
      <bdi>{names.join(", ")}</bdi>
      {rest > 0 && ` +${formatCount(rest, language)}`}
      {pause.reason !== "" && (
        <>
          {" · "}
          <bdi>{pause.reason}</bdi>
        </>
      )}
      {" · "}
      <PauseEnd pause={pause} />
    </NoticeBar>
  );
}

/** The pauses that last, each with the way back. */
export function PauseBars() {
  const { data } = useQuery(pausesQuery);
  return data?.map((pause) => <PauseBar key={pause.id} pause={pause} />);
}
