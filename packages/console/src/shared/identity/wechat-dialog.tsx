import { Flex, Text } from "@chakra-ui/react";
import { useState } from "react";
import { TextField } from "../../ui/form/field.tsx";
import { FormDialog } from "../../ui/form/form-dialog.tsx";
import { problemText } from "../../ui/feedback/toaster.ts";
import { useStatus } from "../../session/status.ts";
import { useTexts } from "./texts.ts";

interface WechatDialogProps {
  readonly title: string;
  readonly submitLabel: string;
  /** Passes the code to the caller; the dialog shows a rejection. */
  onCode(code: string): Promise<void>;
  onClose(): void;
}

/** The picture to scan with WeChat, and an input for the code that its account replies with. */
export function WechatDialog(props: WechatDialogProps) {
  const t = useTexts();
  const { wechat_qrcode: picture } = useStatus();
  const [code, setCode] = useState("");
  const [error, setError] = useState<string>();
  const [isSending, setSending] = useState(false);
  const submit = async () => {
    if (code.trim() === "") return setError(t("wechatCodeMissing"));
    setSending(true);
    await props.onCode(code.trim()).catch((problem: unknown) => setError(problemText(problem)));
    setSending(false);
  };
  return (
    <FormDialog
      title={props.title}
      submitLabel={props.submitLabel}
      isSaving={isSending}
      onSubmit={() => void submit()}
      onClose={props.onClose}
    >
      <Flex direction="column" gap="4">
        {picture !== "" && (
          <Flex justify="center">
            <img src={picture} alt={t("wechatPicture")} width={200} referrerPolicy="no-referrer" />
          </Flex>
        )}
        <Text textStyle="sm">{t("wechatHelp")}</Text>
        <TextField
          label={t("wechatCode")}
          name="code"
          autoComplete="one-time-code"
          value={code}
          error={error}
          onChange={(text) => {
            setCode(text);
            setError(undefined);
          }}
        />
      </Flex>
    </FormDialog>
  );
}
