// Every message the four domains' tools can raise, as tau2-bench (a2c0247) words them, with values
// filled in; transcripts of fuzzed runs reach about half of these.
#include "failure/rules.h"

#include <gtest/gtest.h>

#include <string>

namespace unmask {
namespace {

struct Expected {
  const char* domain;
  const char* tool;
  const char* text;
  Channel channel;
};

constexpr Expected kRaised[] = {
    {"mock", "create_task", "User u9 not found", Channel::Entity},
    {"mock", "update_task_status", "Task t9 not found", Channel::Entity},
    {"mock", "dismiss_notification", "Notification n9 not found", Channel::Entity},
    {"airline", "get_user_details", "User u9 not found", Channel::Entity},
    {"airline", "cancel_reservation", "Reservation R9 not found", Channel::Entity},
    {"airline", "book_reservation", "Flight HAT999 not found", Channel::Entity},
    {"airline", "get_flight_status", "Flight HAT001 not found on date 2030-01-01", Channel::Entity},
    {"airline", "book_reservation", "Flight HAT001 not available on date 2024-05-01",
     Channel::Rejected},
    {"airline", "book_reservation", "Too many reservations", Channel::Rejected},
    {"airline", "update_reservation_flights", "Payment method not found", Channel::Entity},
    {"airline", "update_reservation_baggages", "Certificate cannot be used to update reservation",
     Channel::Rejected},
    {"airline", "update_reservation_flights", "Gift card balance is not enough", Channel::Rejected},
    {"airline", "book_reservation", "Not enough seats on flight HAT001", Channel::Rejected},
    {"airline", "book_reservation", "Payment method gift_card_1 not found", Channel::Entity},
    {"airline", "book_reservation", "Not enough balance in payment method gift_card_1",
     Channel::Rejected},
    {"airline", "book_reservation", "Payment amount does not add up, total price is 5, but paid 4",
     Channel::Rejected},
    {"airline", "calculate", "Invalid characters in expression", Channel::Schema},
    {"airline", "send_certificate", "Too many certificates", Channel::Rejected},
    {"airline", "update_reservation_passengers", "Number of passengers does not match",
     Channel::Rejected},
    {"airline", "update_reservation_flights", "'2024-06-01'", Channel::Entity},
    {"retail", "get_order_details", "Order not found", Channel::Entity},
    {"retail", "find_user_id_by_email", "User not found", Channel::Entity},
    {"retail", "get_product_details", "Product not found", Channel::Entity},
    {"retail", "get_item_details", "Item not found", Channel::Entity},
    {"retail", "exchange_delivered_order_items", "Variant not found", Channel::Entity},
    {"retail", "return_delivered_order_items", "Payment method not found", Channel::Entity},
    {"retail", "cancel_pending_order", "Non-pending order cannot be cancelled", Channel::Rejected},
    {"retail", "cancel_pending_order", "Invalid reason", Channel::Entity},
    {"retail", "exchange_delivered_order_items", "Non-delivered order cannot be exchanged",
     Channel::Rejected},
    {"retail", "exchange_delivered_order_items", "Number of 123 not found.", Channel::Entity},
    {"retail", "exchange_delivered_order_items",
     "The number of items to be exchanged should match.", Channel::Rejected},
    {"retail", "exchange_delivered_order_items", "Item 123 not found", Channel::Entity},
    {"retail", "exchange_delivered_order_items", "New item 123 not found or available",
     Channel::Rejected},
    {"retail", "exchange_delivered_order_items",
     "Insufficient gift card balance to pay for the price difference", Channel::Rejected},
    {"retail", "modify_pending_order_items", "Non-pending order cannot be modified",
     Channel::Rejected},
    {"retail", "modify_pending_order_items", "123 not found", Channel::Entity},
    {"retail", "modify_pending_order_items",
     "The new item id should be different from the old item id", Channel::Rejected},
    {"retail", "modify_pending_order_items",
     "Insufficient gift card balance to pay for the new item", Channel::Rejected},
    {"retail", "modify_pending_order_payment",
     "There should be exactly one payment for a pending order", Channel::Rejected},
    {"retail", "modify_pending_order_payment",
     "The new payment method should be different from the current one", Channel::Rejected},
    {"retail", "modify_pending_order_payment",
     "Insufficient gift card balance to pay for the order", Channel::Rejected},
    {"retail", "return_delivered_order_items", "Non-delivered order cannot be returned",
     Channel::Rejected},
    {"retail", "return_delivered_order_items",
     "Payment method should be the original payment method", Channel::Rejected},
    {"retail", "return_delivered_order_items", "Some item not found", Channel::Entity},
    {"telecom", "get_customer_by_phone", "Customer with phone number 5 not found", Channel::Entity},
    {"telecom", "get_customer_by_id", "Customer with ID C9 not found", Channel::Entity},
    {"telecom", "get_details_by_id", "Line with ID L9 not found", Channel::Entity},
    {"telecom", "get_details_by_id", "Plan with ID P9 not found", Channel::Entity},
    {"telecom", "get_details_by_id", "Device with ID D9 not found", Channel::Entity},
    {"telecom", "get_details_by_id", "Bill with ID B9 not found", Channel::Entity},
    {"telecom", "get_details_by_id", "Unknown ID format or type: X9", Channel::Entity},
    {"telecom", "get_data_usage", "Line L9 not found for customer C1", Channel::Entity},
    {"telecom", "suspend_line", "Line must be active to suspend", Channel::Rejected},
    {"telecom", "resume_line", "Line must be suspended to resume", Channel::Rejected},
    {"telecom", "send_payment_request", "A bill is already awaiting payment for this customer",
     Channel::Rejected},
    {"telecom", "send_payment_request", "Bill B9 not found for customer C1", Channel::Entity},
    {"telecom", "refuel_data", "Refuel amount must be positive", Channel::Rejected},
    {"telecom", "refuel_data", "Plan not found for this line", Channel::Entity},
    {"telecom", "refuel_data", "Line with phone number 555 not found", Channel::Entity},
};

TEST(RuleTable, KnowsEveryMessageTheToolsCanRaise) {
  for (const Expected& row : kRaised) {
    const TextRule* rule =
        match_rule(row.domain, row.tool, normalized_error_text(std::string("Error: ") + row.text));
    ASSERT_NE(rule, nullptr) << row.domain << ": " << row.text;
    EXPECT_EQ(to_string(rule->channel), to_string(row.channel)) << row.domain << ": " << row.text;
    // Only rows of Python's own wordings may be shared by all domains; these words are the
    // domain's.
    EXPECT_TRUE(rule->domain == row.domain || rule->tool == row.tool) << row.text;
  }
}

TEST(RuleTable, DoesNotKnowWhatItHasNeverSeen) {
  for (const char* text : {"the moon is full", "", "no", "value", "(", "please try again later"}) {
    EXPECT_EQ(match_rule("retail", "get_user_details", text), nullptr) << text;
    EXPECT_FALSE(says_harness_fault(text)) << text;
    EXPECT_FALSE(says_unknown_tool(text, "get_user_details")) << text;
  }
}

}  // namespace
}  // namespace unmask
