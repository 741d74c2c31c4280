import { oauthWechat } from "@fairway/wire";
import { Button } from "@chakra-ui/react";
import { useState } from "react";
import { WechatDialog } from "../../shared/identity/wechat-dialog.tsx";
import { setUser } from "../../session/session.ts";
import { useStatus } from "../../session/status.ts";
import { call } from "../../lib/http.ts";
import { useNavigate } from "react-router";
import { ApiProblem } from "../../lib/problems.ts";
import { useTexts } from "./texts.ts";

/** Signs in with the code of a WeChat account, if the operator has enabled it. */
export function WechatButton(props: { onDone(): void }) {
  const t = useTexts();
  const { wechat_login: isOffered } = useStatus();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  if (!isOffered) return null;
  const title = t("continueWith", { service: t("wechat") });
  const signIn = async (code: string) => {
    try {
      setUser(await call(oauthWechat, { query: { code } }));
      props.onDone();
    } catch (problem) {
      if (!(problem instanceof ApiProblem) || problem.key !== "second_factor_required") throw problem;
      // The account has a second factor, whose code has a page of its own.
      void navigate("/oauth/code");
    }
  };
  return (
    <>
      <Button variant="outline" width="full" mt="2" onClick={() => setOpen(true)}>
        {title}
      </Button>
      {isOpen && (
        <WechatDialog title={title} submitLabel={t("submit")} onCode={signIn} onClose={() => setOpen(false)} />
      )}
    </>
  );
}
