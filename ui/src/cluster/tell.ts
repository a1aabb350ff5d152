import { notifications } from "@mantine/notifications";

/** tell answers what a person has just done. */
export function tell(message: string): void {
  notifications.show({ message, autoClose: 3000, withCloseButton: false });
}
