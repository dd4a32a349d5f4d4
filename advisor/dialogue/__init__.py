"""Understanding what people type, questions, sessions and phrases."""
