import { Button } from "@chakra-ui/react";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../ui/feedback/ask.ts";
import { NoticeBar } from "../../ui/feedback/notice-bar.tsx";
import { toast, toastProblem } from "../../ui/feedback/toaster.ts";
import { demoQuery, DEMO_MODEL, removeDemo } from "./api.ts";
import { useTexts } from "./texts.ts";

/** Says that a demo channel answers, as long as it exists, and lets the user remove it with one click. */
export function DemoNotice() {
  const t = useTexts();
  const demo = useQuery(demoQuery).data?.demo;
  if (!demo) return null;
  const remove = async () => {
    const question = {
      title: t("demoTitle"),
      body: t("demoBody", { model: DEMO_MODEL }),
      confirm: t("demoRemove"),
      isDangerous: true,
    };
    if (await ask(question)) await removeDemo(demo).then(() => toast("success", t("demoRemoved")), toastProblem);
  };
  return (
    <NoticeBar
      icon="bolt"
      hue="fairway"
      actions={
        <Button size="xs" variant="outline" onClick={() => void remove()}>
          {t("demoRemove")}
        </Button>
      }
    >
      {t("demo", { model: DEMO_MODEL })}
    </NoticeBar>
  );
}
