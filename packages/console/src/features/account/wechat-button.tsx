import { oauthWechat } from "@fairway/wire";
import { Button } from "@chakra-ui/react";
import { useState } from "react";
import { WechatDialog } from "../../app/identity/wechat-dialog.tsx";
import { setUser } from "../../app/session/session.ts";
import { useStatus } from "../../app/session/status.ts";
import { call } from "../../lib/http.ts";
import { useTexts } from "./texts.ts";

/** Signs in with the code of a WeChat account, where the operator has switched that on. */
export function WechatButton(props: { onDone(): void }) {
  const t = useTexts();
  const { wechat_login: isOffered } = useStatus();
  const [isOpen, setOpen] = useState(false);
  if (!isOffered) return null;
  const title = t("continueWith", { service: t("wechat") });
  const signIn = async (code: string) => {
    setUser(await call(oauthWechat, { query: { code } }));
    props.onDone();
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
