import { Button, Dialog, Portal } from "@chakra-ui/react";
import { useId, type FormEvent, type ReactNode } from "react";
import { useTexts } from "../texts.ts";

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
    <Dialog.Root open onOpenChange={(change) => !change.open && props.onClose()} placement="center" size="sm">
      <Portal>
        <Dialog.Backdrop />
        <Dialog.Positioner px="4">
          <Dialog.Content>
            <Dialog.Header>
              <Dialog.Title>{props.title}</Dialog.Title>
            </Dialog.Header>
            <Dialog.Body>
              <form id={id} noValidate onSubmit={submit}>
                {props.children}
              </form>
            </Dialog.Body>
            <Dialog.Footer>
              <Button variant="outline" onClick={props.onClose}>
                {t("cancel")}
              </Button>
              <Button type="submit" form={id} loading={props.isSaving === true}>
                {props.submitLabel}
              </Button>
            </Dialog.Footer>
          </Dialog.Content>
        </Dialog.Positioner>
      </Portal>
    </Dialog.Root>
  );
}
