import { useStatus } from "../../session/status.ts";
import { CodeTabs } from "../../ui/content/code-tabs.tsx";
import { baseAddress } from "../../ui/content/connection.ts";
import { buildSnippets } from "./code.ts";
import type { Answer } from "./conversation.ts";
import { useTexts } from "./texts.ts";
import { Modal } from "../../ui/feedback/modal.tsx";

interface CodeDialogProps {
  readonly body: Readonly<Record<string, unknown>>;
  readonly answer: Answer | undefined;
  onClose(): void;
}

export function CodeDialog(props: CodeDialogProps) {
  const t = useTexts();
  const { server_address: address } = useStatus();
  const exchange = { answer: props.answer, request: t("codeRequest"), response: t("codeResponse") };
  return (
    <Modal
      title={t("codeTitle")}
      lead={t("codeBody")}
      hasCross
      size="lg"
      body={{ maxH: "70dvh", overflowY: "auto" }}
      onClose={props.onClose}
    >
      <CodeTabs
        label={t("code")}
        copyLabel={t("codeCopy")}
        snippets={buildSnippets(baseAddress(address), props.body, exchange)}
      />
    </Modal>
  );
}
