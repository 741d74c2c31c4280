import { Button, Dialog, Flex, Portal, Text } from "@chakra-ui/react";
import { useId, useState, type FormEvent } from "react";
import { TextField } from "../../ui/form/field.tsx";
import { useTexts as useUiTexts } from "../../ui/texts.ts";
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

/** The picture to scan with WeChat and the code that its account answers with. */
export function WechatDialog(props: WechatDialogProps) {
  const t = useTexts();
  const ui = useUiTexts();
  const id = useId();
  const { wechat_qrcode: picture } = useStatus();
  const [code, setCode] = useState("");
  const [error, setError] = useState<string>();
  const [isSending, setSending] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (code.trim() === "") return setError(t("wechatCodeMissing"));
    setSending(true);
    await props.onCode(code.trim()).catch((problem: unknown) => setError(problemText(problem)));
    setSending(false);
  };
  return (
    <Dialog.Root open onOpenChange={(change) => !change.open && props.onClose()} placement="center" size="sm">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title>{props.title}</Dialog.Title>
            </Dialog.Header>
            <Dialog.Body>
              <form id={id} noValidate onSubmit={(event) => void submit(event)}>
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
              </form>
            </Dialog.Body>
            <Dialog.Footer>
              <Button variant="outline" onClick={props.onClose}>
                {ui("cancel")}
              </Button>
              <Button type="submit" form={id} loading={isSending}>
                {props.submitLabel}
              </Button>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
