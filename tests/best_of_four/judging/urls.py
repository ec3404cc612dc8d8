from django.urls import path

from tests.best_of_four.judging import views

urlpatterns = [
    path("judge/<slug:code>/four/", views.four, name="four"),
    path("runs/<slug:code>/four/", views.overview, name="four_overview"),
]
