import type { User } from "@fairway/wire";
import { Button, Flex, Text } from "@chakra-ui/react";
import { useState } from "react";
import { listServices, startSignIn } from "../../../shared/identity/services.ts";
import { TelegramWidget } from "../../../shared/identity/telegram.tsx";
import { WechatDialog } from "../../../shared/identity/wechat-dialog.tsx";
import { useStatus } from "../../../session/status.ts";
import { FormSection } from "../../../ui/form/form-drawer.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { bindWechat } from "../api.ts";
import { EmailDialog } from "./email-dialog.tsx";
import { useTexts } from "../texts.ts";
import { Modal } from "../../../ui/feedback/modal.tsx";

interface LineProps {
  readonly name: string;
  /** The bound account, "" if there is none. */
  readonly value: string;
  /** The label of the button; without it there is no button. */
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

/** The services that can be bound by a redirect; a binding is permanent. */
function ServiceLines({ self }: { readonly self: User }) {
  const t = useTexts();
  const status = useStatus();
  return listServices(status).map((service) => {
    const value = service.bound?.(self) ?? "";
    const isOffered = service.isOffered(status);
    if (service.bound === undefined || (!isOffered && value === "")) return null;
    return (
      <Line
        key={service.name}
        name={service.label}
        value={value}
        action={isOffered && value === "" ? t("bind") : undefined}
        onAction={() => void startSignIn(service).catch(toastProblem)}
      />
    );
  });
}

function TelegramDialog(props: { onClose(): void }) {
  const t = useTexts();
  return (
    <Modal title={t("bindTelegram")} hasCross size="sm" body={{ pb: "6" }} onClose={props.onClose}>
      <TelegramWidget />
    </Modal>
  );
}

/** The e-mail address of the account and the services that sign in to it. */
export function Accounts({ self }: { readonly self: User }) {
  const t = useTexts();
  const { wechat_login: hasWechat, telegram_oauth: hasTelegram } = useStatus();
  const [open, setOpen] = useState<"email" | "wechat" | "telegram">();
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
        action={self.managed_by === undefined ? t(self.email === "" ? "bind" : "change") : undefined}
        onAction={() => setOpen("email")}
      />
      <ServiceLines self={self} />
      {(hasWechat || self.wechat_id !== "") && (
        <Line
          name={t("cardWechat")}
          value={self.wechat_id}
          action={hasWechat ? t(self.wechat_id === "" ? "bind" : "change") : undefined}
          onAction={() => setOpen("wechat")}
        />
      )}
      {(hasTelegram || self.telegram_id !== "") && (
        <Line
          name={t("cardTelegram")}
          value={self.telegram_id}
          action={hasTelegram && self.telegram_id === "" ? t("bind") : undefined}
          onAction={() => setOpen("telegram")}
        />
      )}
      {open === "email" && <EmailDialog onClose={close} />}
      {open === "telegram" && <TelegramDialog onClose={close} />}
      {open === "wechat" && (
        <WechatDialog title={t("bindWechat")} submitLabel={t("bind")} onCode={takeWechatCode} onClose={close} />
      )}
    </FormSection>
  );
}
