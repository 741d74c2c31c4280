import { Button } from "@chakra-ui/react";
import { useId, type FormEvent, type ReactNode } from "react";
import { useTexts } from "../texts.ts";
import { Modal } from "../feedback/modal.tsx";

export interface FormDialogProps {
  readonly title: string;
  readonly submitLabel: string;
  readonly isSaving?: boolean;
  readonly children: ReactNode;
  onSubmit(): void;
  onClose(): void;
}

/** A small form over the page. */
export function FormDialog(props: FormDialogProps) {
  const t = useTexts();
  const id = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    props.onSubmit();
  };
  return (
    <Modal
      title={props.title}
      size="sm"
      onClose={props.onClose}
      footer={
        <>
          <Button variant="outline" onClick={props.onClose}>
            {t("cancel")}
          </Button>
          <Button type="submit" form={id} loading={props.isSaving === true}>
            {props.submitLabel}
          </Button>
        </>
      }
    >
      <form id={id} noValidate onSubmit={submit}>
        {props.children}
      </form>
    </Modal>
  );
}
