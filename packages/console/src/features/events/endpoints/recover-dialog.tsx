import { Button } from "@chakra-ui/react";
import { useState } from "react";
import { fromLocalInput, toLocalInput } from "../../../lib/format.ts";
import { nowSeconds } from "../../../lib/now.ts";
import { Modal } from "../../../ui/feedback/modal.tsx";
import { toast, toastProblem } from "../../../ui/feedback/toaster.ts";
import { TextField } from "../../../ui/form/field.tsx";
import { recoverSince } from "../api.ts";
import type { Owner } from "../owner.ts";
import { useTexts } from "../texts.ts";

const DAY = 86_400;

interface RecoverProps {
  readonly owner: Owner;
  readonly id: number;
  onClose(): void;
}

/** Prompts for a time and sends what the endpoint missed since then. */
export function RecoverDialog({ owner, id, onClose }: RecoverProps) {
  const t = useTexts();
  const [text, setText] = useState(() => toLocalInput(nowSeconds() - DAY));
  const [isSending, setSending] = useState(false);
  const since = fromLocalInput(text);
  const send = async () => {
    if (since === undefined) return;
    setSending(true);
    await recoverSince(owner, id, since).then((count) => {
      toast("success", t("recovered", { count }));
      onClose();
    }, toastProblem);
    setSending(false);
  };
  return (
    <Modal
      title={t("recover")}
      lead={t("recoverBody")}
      onClose={onClose}
      footer={
        <>
          <Button variant="outline" onClick={onClose}>
            {t("cancel")}
          </Button>
          <Button loading={isSending} onClick={() => void send()}>
            {t("recoverSend")}
          </Button>
        </>
      }
    >
      <TextField
        label={t("since")}
        type="datetime-local"
        value={text}
        error={since === undefined ? t("sinceMissing") : undefined}
        onChange={setText}
      />
    </Modal>
  );
}
