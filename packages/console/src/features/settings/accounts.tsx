import type { User } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useState } from "react";
import { WechatDialog } from "../../app/identity/wechat-dialog.tsx";
import { useStatus } from "../../app/session/status.ts";
import { FormSection } from "../../ui/form-drawer.tsx";
import { toast } from "../../ui/toaster.ts";
import { bindWechat } from "./api.ts";
import { EmailDialog } from "./email-dialog.tsx";
import { useTexts } from "./texts.ts";

interface LineProps {
  readonly name: string;
  /** What is bound, "" for nothing. */
  readonly value: string;
  /** What the button says; without it there is none. */
  readonly action: string | undefined;
  onAction(): void;
}

function Line({ name, value, action, onAction }: LineProps) {
  const t = useTexts();
  return (
    <Flex align="center" gap="3" wrap="wrap">
      <Text textStyle="sm" fontWeight="medium" minW="7rem">
        {name}
      </Text>
      <Text textStyle="sm" color="fg.muted" flex="1" minW="12rem" overflowWrap="anywhere">
        {value || t("notBound")}
      </Text>
      {action !== undefined && (
        <Button size="xs" variant="outline" aria-label={`${action}: ${name}`} onClick={onAction}>
          {action}
        </Button>
      )}
    </Flex>
  );
}

/** What else belongs to the account: the address for mails and the services that sign in to it. */
export function Accounts({ self }: { readonly self: User }) {
  const t = useTexts();
  const { wechat_login: hasWechat } = useStatus();
  const [open, setOpen] = useState<"email" | "wechat">();
  const close = () => setOpen(undefined);
  const takeWechatCode = async (code: string) => {
    await bindWechat(code);
    toast("success", t("wechatBound"));
    close();
  };
  return (
    <FormSection title={t("accounts")}>
      <Line
        name={t("email")}
        value={self.email}
        action={t(self.email === "" ? "bind" : "change")}
        onAction={() => setOpen("email")}
      />
      {(hasWechat || self.wechat_id !== "") && (
        <Line
          name={t("cardWechat")}
          value={self.wechat_id}
          action={hasWechat ? t(self.wechat_id === "" ? "bind" : "change") : undefined}
          onAction={() => setOpen("wechat")}
        />
      )}
      {open === "email" && <EmailDialog onClose={close} />}
      {open === "wechat" && (
        <WechatDialog title={t("bindWechat")} submitLabel={t("bind")} onCode={takeWechatCode} onClose={close} />
      )}
    </FormSection>
  );
}
