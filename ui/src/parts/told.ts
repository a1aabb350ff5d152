import { notifications } from "@mantine/notifications";

/** told answers a person's own click in a few words that go by themselves. */
export function told(message: string): void {
  notifications.show({ message, autoClose: 3000, withCloseButton: false });
}
